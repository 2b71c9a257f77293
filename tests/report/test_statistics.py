import math
from typing import Any

from tests_support import record

from bridge.mt5 import constants as mt5
from bridge.mt5.records import TradeDeal
from bridge.report.statistics import statistics


def deal(position: int, entry: int, profit: float = 0.0, **fields: Any) -> TradeDeal:
    plain = {"position_id": position, "entry": entry, "profit": profit, "commission": -0.35}
    found: TradeDeal = record(TradeDeal, plain | fields)
    return found


IN, OUT = mt5.DEAL_ENTRY_IN, mt5.DEAL_ENTRY_OUT
DEPOSIT = record(TradeDeal, {"type": mt5.DEAL_TYPE_BALANCE, "profit": 10_000.0})


def test_a_run_by_hand() -> None:
    deals = [
        DEPOSIT,
        deal(1, IN),
        deal(1, OUT, 20.0, swap=-1.0),
        deal(2, IN),
        deal(2, OUT, -10.0),
        deal(3, IN),
        deal(3, OUT, 5.0),
        deal(3, OUT, 5.0),
        deal(4, IN),
    ]
    found = statistics(deals, [10_000.0, 10_100.0, 9_999.0, 10_050.0])
    # Nets: 20 - 1 - 0.70 = 18.30; -10.70; 10 - 1.05 = 8.95; the fourth is still open.
    assert found.trades == 3
    assert math.isclose(found.win_rate or 0.0, 2 / 3)
    assert math.isclose(found.profit_factor or 0.0, (18.30 + 8.95) / 10.70)
    assert math.isclose(found.net_profit, 20 - 1 - 10 + 5 + 5 - 8 * 0.35)
    assert math.isclose(found.commission, -8 * 0.35)
    assert found.swap == -1.0
    assert found.max_drawdown == 101.0
    assert math.isclose(found.max_drawdown_share, 101 / 10_100)


def test_nothing_traded_is_nothing_divided() -> None:
    found = statistics([DEPOSIT], [10_000.0])
    assert (found.trades, found.win_rate, found.profit_factor) == (0, None, None)
    assert (found.net_profit, found.max_drawdown, found.max_drawdown_share) == (0.0, 0.0, 0.0)
    assert statistics([], []).trades == 0


def test_without_a_loss_there_is_no_profit_factor() -> None:
    assert statistics([deal(1, IN), deal(1, OUT, 9.0)], []).profit_factor is None


def test_a_trade_eaten_by_its_commission_is_no_win() -> None:
    found = statistics([deal(1, IN), deal(1, OUT, 0.5)], [])
    assert found.win_rate == 0.0
    assert found.profit_factor == 0.0
