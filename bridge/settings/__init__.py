"""Settings: every number that a user may choose, its unit, its bounds and its default. Frozen.

``None`` means off. A default stands here and nowhere else.
"""

from bridge.settings.backtest import BacktestSettings
from bridge.settings.faults import first_fault
from bridge.settings.hours import HoursSettings
from bridge.settings.limits import DayStart, LimitSettings, PropFirmSettings
from bridge.settings.load import load_settings
from bridge.settings.manage import ManageSettings
from bridge.settings.schema import settings_schema
from bridge.settings.secrets import system_keyring
from bridge.settings.session import SessionSettings
from bridge.settings.strategy import (
    DecisionSettings,
    ExecutionSettings,
    RiskSettings,
    Sides,
    StrategySettings,
    WithoutStop,
    decision_settings,
)
from bridge.settings.tables import (
    BridgeSettings,
    LogLevel,
    LogSettings,
    Mode,
    PaperBars,
    PaperPrices,
    PaperSettings,
    ScheduleSettings,
    TerminalSettings,
    settings_sha256,
)
from bridge.settings.values import Frozen, NotNegative, Positive, Share

__all__ = [
    "BacktestSettings",
    "BridgeSettings",
    "DayStart",
    "DecisionSettings",
    "ExecutionSettings",
    "Frozen",
    "HoursSettings",
    "LimitSettings",
    "LogLevel",
    "LogSettings",
    "ManageSettings",
    "Mode",
    "NotNegative",
    "PaperBars",
    "PaperPrices",
    "PaperSettings",
    "Positive",
    "PropFirmSettings",
    "RiskSettings",
    "ScheduleSettings",
    "SessionSettings",
    "Share",
    "Sides",
    "StrategySettings",
    "TerminalSettings",
    "WithoutStop",
    "decision_settings",
    "first_fault",
    "load_settings",
    "settings_schema",
    "settings_sha256",
    "system_keyring",
]
