"""THE path: what happens when a bar closes. Live, dry-run, paper and back-test all come by here.

feed -> session -> decide -> build -> guard -> execute -> journal, one call an arrow.
"""

from dataclasses import asdict, dataclass

from bridge.engine.standing import Standing
from bridge.engine.strategy import Strategy
from bridge.errors import DataError, TerminalError
from bridge.journal.write import DecisionRow, Journal, input_sha256
from bridge.market.feed import ClosedBarFeed, ClosedBars
from bridge.model.signal import Signal
from bridge.mt5.records import AccountInfo, SymbolInfo, Tick, TradePosition
from bridge.mt5.request import Request
from bridge.mt5.retcodes import Outcome
from bridge.mt5.servertime import DAY, text
from bridge.mt5.sides import BY_POSITION_TYPE
from bridge.mt5.terminal import Terminal
from bridge.risk.guard import Facts, Ruling, Verdict, check
from bridge.strategy.decide import Action, Decision, Holding, decide
from bridge.strategy.recent import bars_since, range_points
from bridge.trade.build import build_close, build_entry
from bridge.trade.execute import TradeResult, execute
from bridge.trade.size import size_entry


@dataclass(frozen=True, slots=True)
class Scene:
    """What the terminal showed at one moment; all positions of the symbol, whoever opened them."""

    account: AccountInfo
    symbol: SymbolInfo
    tick: Tick
    positions: tuple[TradePosition, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """What a step did, for whoever watches."""

    bar_time: int
    signal: Signal
    decision: Decision
    equity: float | None
    holding: Holding | None
    results: tuple[TradeResult, ...]


class Stepper:
    """Takes one strategy through its closed bars.

    Args:
        strategy: What is traded, and how.
        terminal: Where prices are read and orders go.
        feed: The strategy's closed bars.
        journal: Where all of it is written.
        standing: What outlasts a bar.
    """

    def __init__(
        self,
        *,
        strategy: Strategy,
        terminal: Terminal,
        feed: ClosedBarFeed,
        journal: Journal,
        standing: Standing,
    ) -> None:
        self._strategy = strategy
        self._terminal = terminal
        self._feed = feed
        self._journal = journal
        self.standing = standing

    def step(self) -> Step | None:
        """Decide the newest closed bar and act on it; None when no bar closed.

        Raises:
            TerminalError: The terminal does not even give bars.
        """
        bars = self._next()
        if bars is None:
            return None
        signal = self._signal(bars)
        scene = self._scene()
        holding = None if scene is None else self._holding(bars, scene)
        decision = self._decide(bars, signal, scene, holding)
        number = self._write(bars, signal, scene, holding, decision)
        results = () if scene is None else self._act(decision, number, scene)
        equity = None if scene is None else scene.account.equity
        return Step(bars.time, signal, decision, equity, holding, results)

    def flatten(self, why: str) -> tuple[TradeResult, ...]:
        """Close the strategy's own positions now, whatever the signal says."""
        scene = self._look()
        self._journal.event("flatten", why)
        return self._close(None, scene)

    # -- bar, signal, decision ---------------------------------------------------------------

    def _next(self) -> ClosedBars | None:
        try:
            bars = self._feed.next()
        except DataError as error:
            self._journal.event("data", str(error))
            return None
        if bars is not None and bars.missed:
            first, last = text(bars.missed[0]), text(bars.missed[-1])
            self._journal.event(
                "missed",
                f"{len(bars.missed)} bars closed unseen and are not traded: {first} to {last}",
            )
        return bars

    def _signal(self, bars: ClosedBars) -> Signal:
        model = self._strategy.model
        return model.signal(bars.rates[-model.contract.window :])

    def _scene(self) -> Scene | None:
        """Look at the terminal; None, with the reason in the journal, when it doesn't answer."""
        try:
            return self._look()
        except TerminalError as error:
            self._journal.event("terminal", f"no entry at this bar: {error}")
            return None

    def _look(self) -> Scene:
        terminal, name = self._terminal, self._strategy.settings.symbol
        scene = Scene(
            account=terminal.account_info(),
            symbol=terminal.symbol_info(name),
            tick=terminal.symbol_info_tick(name),
            positions=terminal.positions_get(name),
        )
        self._notice(scene)
        return scene

    def _holding(self, bars: ClosedBars, scene: Scene) -> Holding | None:
        own = self._own(scene)
        if not own:
            return None
        opened = self._strategy.timeframe.open_of(own[0].time)
        return Holding(
            ticket=own[0].ticket,
            side=BY_POSITION_TYPE[own[0].type],
            volume=round(sum(position.volume for position in own), 8),
            bars=bars_since(bars.rates, opened),
        )

    def _own(self, scene: Scene) -> tuple[TradePosition, ...]:
        magic = self._strategy.settings.magic
        return tuple(position for position in scene.positions if position.magic == magic)

    def _decide(
        self, bars: ClosedBars, signal: Signal, scene: Scene | None, holding: Holding | None
    ) -> Decision:
        if scene is None:
            return Decision(action=Action.HOLD, reason="the terminal did not answer")
        settings = self._strategy.decision
        recent = range_points(bars.rates, bars=settings.range_bars, point=scene.symbol.point)
        return decide(signal, holding, settings, range_points=recent)

    # -- acting ------------------------------------------------------------------------------

    def _act(self, decision: Decision, number: int, scene: Scene) -> tuple[TradeResult, ...]:
        if decision.action is Action.HOLD:
            return ()
        if decision.action is Action.OPEN:
            return self._open(decision, number, scene)
        closed = self._close(number, scene)
        if decision.action is Action.CLOSE or not all(each.happened for each in closed):
            return closed
        again = self._scene()
        if again is None or self._own(again):
            return closed
        return closed + self._open(decision, number, again)

    def _open(self, decision: Decision, number: int, scene: Scene) -> tuple[TradeResult, ...]:
        settings, side = self._strategy.settings, decision.side
        if side is None:
            return ()
        sizing = size_entry(
            self._terminal,
            side=side,
            stop_points=decision.stop_points,
            account=scene.account,
            symbol=scene.symbol,
            tick=scene.tick,
            settings=settings.risk,
        )
        if sizing.volume == 0.0:
            verdict = Verdict("size", False, sizing.words, f"minimum {scene.symbol.volume_min:g}")
            self._journal.denied(number, None, [asdict(verdict)], verdict.rule)
            return ()
        request = build_entry(
            side=side,
            volume=sizing.volume,
            stop_points=decision.stop_points,
            take_points=decision.take_points,
            symbol=scene.symbol,
            tick=scene.tick,
            magic=settings.magic,
            settings=settings.execution,
        )
        return self._send(request, number, scene)

    def _close(self, number: int | None, scene: Scene) -> tuple[TradeResult, ...]:
        results: tuple[TradeResult, ...] = ()
        for position in self._own(scene):
            request = build_close(
                position=position,
                symbol=scene.symbol,
                tick=scene.tick,
                magic=self._strategy.settings.magic,
                settings=self._strategy.settings.execution,
            )
            results += self._send(request, number, scene)
        return results

    def _send(self, request: Request, number: int | None, scene: Scene) -> tuple[TradeResult, ...]:
        ruling = check(request, self._facts(scene), self._strategy.settings.risk)
        if ruling.halts:
            self._halt(ruling)
        if ruling.denial is not None:
            verdicts = [asdict(verdict) for verdict in ruling.verdicts]
            self._journal.denied(number, request, verdicts, ruling.denial.rule)
            return ()
        result = execute(self._terminal, self._journal, request, decision=number, ruling=ruling)
        if result.outcome is Outcome.UNRESOLVED:
            self.standing.reduce(request.position or 0)
            self._journal.event("unresolved", f"no more entries: {result.words}")
        # Looked at again at once: a position that is opened and stopped out before the next bar
        # would otherwise leave no trace between two looks.
        self._scene()
        return (result,)

    def _halt(self, ruling: Ruling) -> None:
        self.standing.halt()
        reasons = [f"{each.rule}: {each.value}" for each in ruling.verdicts if each.halts]
        self._journal.event("halt", f"no more entries: {'; '.join(reasons)}")

    def _facts(self, scene: Scene) -> Facts:
        return Facts(
            account=scene.account,
            symbol=scene.symbol,
            tick=scene.tick,
            positions=scene.positions,
            baselines=self.standing.baselines,
            state=self.standing.state,
            unresolved=self.standing.unresolved,
        )

    # -- keeping the books -------------------------------------------------------------------

    def _notice(self, scene: Scene) -> None:
        """Move the baselines on, and journal the deals behind any change of own positions."""
        standing = self.standing
        standing.baselines = standing.baselines.advanced(scene.tick.time, scene.account.equity)
        own = self._own(scene)
        if _shape(own) != _shape(standing.positions):
            self.read_deals(scene.tick.time)
            standing.positions = own

    def read_deals(self, server_time: int) -> None:
        """Journal the deals since the last look, up to a day after ``server_time``."""
        deals = self._terminal.history_deals_get(self.standing.deals_since, server_time + DAY)
        self._journal.deals(deals)
        if deals:
            self.standing.deals_since = deals[-1].time

    def _write(
        self,
        bars: ClosedBars,
        signal: Signal,
        scene: Scene | None,
        holding: Holding | None,
        decision: Decision,
    ) -> int:
        model, settings = self._strategy.model, self._strategy.settings
        return self._journal.decision(
            DecisionRow(
                magic=settings.magic,
                symbol=settings.symbol,
                timeframe=settings.timeframe,
                bar_time=bars.time,
                model_sha256=model.sha256,
                input_sha256=input_sha256(bars.rates[-model.contract.window :]),
                outputs=signal.values,
                long=signal.long,
                short=signal.short,
                problem=signal.problem,
                action=decision.action,
                side=decision.side,
                stop_points=decision.stop_points,
                take_points=decision.take_points,
                reason=decision.reason,
                holding=None if holding is None else asdict(holding),
                state=self.standing.state,
                bid=scene.tick.bid if scene else None,
                ask=scene.tick.ask if scene else None,
                balance=scene.account.balance if scene else None,
                equity=scene.account.equity if scene else None,
            )
        )


def _shape(positions: tuple[TradePosition, ...]) -> tuple[tuple[int, int, float], ...]:
    return tuple((position.ticket, position.type, position.volume) for position in positions)
