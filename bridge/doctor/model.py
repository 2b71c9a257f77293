"""The model: its file, its age, whose hours it reads; and what its orders have left open."""

from datetime import UTC, datetime

from bridge.doctor.finding import Finding, fail, ok, skipped, warn
from bridge.doctor.ground import Subject
from bridge.engine.strategy import Strategy
from bridge.errors import ContractError
from bridge.model.load import check_bars
from bridge.mt5 import constants as mt5
from bridge.mt5.records import TradePosition
from bridge.mt5.sides import BY_POSITION_TYPE

_MODEL = 4
_DAY = 86_400
_OLD_DAYS = 180


def model(of: Subject) -> Finding:
    """Say what was loaded: a child process has run it, and its contract fits the settings."""
    if isinstance(of.loaded, Exception):
        raise of.loaded
    loaded = of.loaded.model
    pin = "as pinned" if of.settings.sha256 else "not pinned"
    return ok(
        f"{loaded.path.name}, sha256 {loaded.sha256[:12]} ({pin}), runs, made for "
        f"{loaded.contract.symbol} {loaded.contract.timeframe}: {loaded.contract.algorithm}"
    )


def age(of: Subject) -> Finding:
    """Count the days since the last bar that was trained on, or since the file was made."""
    contract = of.strategy.model.contract
    if contract.train_to is not None:
        what, day, now = "trained up to", contract.train_to[:10], of.site.market_time
    else:
        what, day, now = "made on", contract.created, of.site.clock.now()
    days = max(0, int(now - datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()) // _DAY)
    found = f"{what} {day}, {days} days ago"
    if days > _OLD_DAYS:
        return warn(f"{found}, more than {_OLD_DAYS}", "train it again, or test it on newer bars")
    return ok(found)


def hours(of: Subject) -> Finding:
    """Compare the server clock of the training with the broker's."""
    trained, rule = of.strategy.model.contract.server_clock, of.site.rule
    try:
        _check_hours(of.strategy, rule)
    except ContractError as error:
        return fail(_MODEL, str(error), "train it on bars of this broker's clock")
    if trained == rule:
        return ok(f"trained on a server clock {trained}, as the broker's is")
    return ok(f"trained on a server clock {trained}, but it does not read the hour")


def _check_hours(strategy: Strategy, rule: str) -> None:
    # As many bars as needed: whether there are so many is the history's finding.
    check_bars(strategy.model, count=strategy.model.contract.window, clock=rule)


def positions(of: Subject) -> Finding:
    """Say what is open with the strategy's magic, and what stands in its way."""
    site, settings = of.site, of.settings
    if site.is_paper:
        found = "the file of the paper account is left alone"
        return skipped(found, "mt5-onnx status shows what it holds")
    there = site.terminal.positions_get()
    own = [each for each in there if each.magic == settings.magic]
    found = ", ".join(map(_told, own)) or "none"
    found = f"open with magic {settings.magic}: {found}"
    is_netting = site.terminal.account_info().margin_mode != mt5.ACCOUNT_MARGIN_MODE_RETAIL_HEDGING
    foreign = [each for each in there if each.symbol == of.name and each not in own]
    if is_netting and foreign:
        found = f"{found}; on this netting account {_told(foreign[0])} is somebody else's"
        return warn(found, "close it first: an order of the strategy would change it")
    return ok(found)


def _told(position: TradePosition) -> str:
    side = BY_POSITION_TYPE[position.type]
    return f"{side} {position.volume:g} {position.symbol} from {position.price_open:g}"
