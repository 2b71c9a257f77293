"""Volume of an entry, asked of the terminal's own calculation of money."""

from bridge.mt5.records import AccountInfo, SymbolInfo, Tick
from bridge.mt5.sides import Side
from bridge.mt5.terminal import Terminal
from bridge.risk.volume import Sizing, fixed_volume, volume_for_risk
from bridge.settings import RiskSettings
from bridge.trade.build import stop_price, to_tick


def size_entry(
    terminal: Terminal,
    *,
    side: Side,
    stop_points: float | None,
    account: AccountInfo,
    symbol: SymbolInfo,
    tick: Tick,
    settings: RiskSettings,
) -> Sizing:
    """Return the volume of an entry, fixed or from risk.

    Args:
        terminal: Asked for the loss at the stop through ``order_calc_profit``.
        side: What is opened.
        stop_points: Distance of its stop loss, points; None for none.
        account: Its equity is what ``risk_share`` is a share of.
        symbol: Specification of the symbol.
        tick: Its prices now.
        settings: ``volume`` or ``risk_share``.

    Raises:
        TerminalError: The terminal can't calculate the loss.
    """
    if settings.volume is not None:
        return fixed_volume(symbol, settings.volume)
    if settings.risk_share is None or stop_points is None:
        return Sizing(
            0.0,
            f"{symbol.name}: risk_share sizes by the stop, and there is none; set stop_points or "
            "stop_ranges, or a fixed volume",
        )
    entry = to_tick(side.opening_price(tick), symbol)
    stop = stop_price(side, stop_points, symbol, tick)
    # Asked for one lot, or for the smallest order where that is larger: answers come in cents, and
    # dividing a small one would magnify its rounding.
    lots = max(1.0, symbol.volume_min)
    profit = terminal.order_calc_profit(side.opening_type, symbol.name, lots, entry, stop)
    if profit >= 0.0:
        return Sizing(0.0, f"{symbol.name}: the stop {stop:g} loses nothing against {entry:g}")
    return volume_for_risk(
        symbol,
        equity=account.equity,
        share=settings.risk_share,
        loss_per_lot=-profit / lots,
    )
