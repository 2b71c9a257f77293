"""What the journal keeps of a decision: all that it was made of."""

from bridge.engine.scene import Scene
from bridge.engine.standing import Standing
from bridge.engine.strategy import Strategy
from bridge.journal.write import DecisionRow, input_sha256
from bridge.model.signal import Signal
from bridge.mt5.rates import RatesArray
from bridge.strategy.decide import Decision, Holding


def decision_row(
    strategy: Strategy,
    standing: Standing,
    *,
    rates: RatesArray,
    signal: Signal,
    scene: Scene | None,
    holding: Holding | None,
    decision: Decision,
) -> DecisionRow:
    """Return the row of a decision.

    Args:
        strategy: Whose it is.
        standing: At this moment.
        rates: The model's window, shape ``(window,)``.
        signal: The model's answer.
        scene: What the terminal showed; None when it did not answer.
        holding: The open position.
        decision: What came of it.
    """
    settings = strategy.settings
    return DecisionRow(
        magic=settings.magic,
        symbol=settings.symbol,
        timeframe=settings.timeframe,
        bar_time=int(rates["time"][-1]),
        model_sha256=strategy.model.sha256,
        input_sha256=input_sha256(rates),
        outputs=signal.values,
        long=signal.long,
        short=signal.short,
        problem=signal.problem,
        action=decision.action,
        side=decision.side,
        stop_points=decision.stop_points,
        take_points=decision.take_points,
        reason=decision.reason,
        holding=None if holding is None else holding._asdict(),
        state=standing.state,
        baselines=standing.baselines,
        bid=scene.tick.bid if scene else None,
        ask=scene.tick.ask if scene else None,
        balance=scene.account.balance if scene else None,
        equity=scene.account.equity if scene else None,
    )
