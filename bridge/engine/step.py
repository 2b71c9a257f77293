"""THE path: what happens when a bar closes. Live, dry-run, paper and back-test all come by here.

feed -> session -> decide -> build -> guard -> execute -> journal; from build on it is ``act``.
"""

from dataclasses import dataclass

from bridge.engine.act import Actor, Results
from bridge.engine.lookout import Lookout
from bridge.engine.row import decision_row
from bridge.engine.scene import House, Scene
from bridge.engine.standing import Standing
from bridge.engine.strategy import Strategy
from bridge.errors import DataError
from bridge.journal.write import DecisionRow, Journal
from bridge.market.feed import ClosedBarFeed, ClosedBars
from bridge.model.signal import Signal
from bridge.mt5.rates import RatesArray
from bridge.mt5.servertime import text
from bridge.mt5.sides import BY_POSITION_TYPE, Side
from bridge.mt5.terminal import Terminal
from bridge.settings import ManageSettings
from bridge.strategy.decide import WEEKEND, Action, Decision, Holding, decide, wanted
from bridge.strategy.manage import Kept, care, is_weekend_near
from bridge.strategy.recent import bars_since, range_points


@dataclass(frozen=True, slots=True)
class Step:
    """What a step did, for whoever watches."""

    magic: int
    bar_time: int
    signal: Signal
    decision: Decision
    equity: float | None
    holding: Holding | None
    results: Results


class Stepper:
    """Takes one strategy through its closed bars.

    Args:
        strategy: What is traded, and how.
        terminal: Where prices are read and orders go.
        feed: The strategy's closed bars.
        journal: Where all of it is written.
        standing: What outlasts a bar.
        house: What all strategies share.
    """

    def __init__(
        self,
        *,
        strategy: Strategy,
        terminal: Terminal,
        feed: ClosedBarFeed,
        journal: Journal,
        standing: Standing,
        house: House,
    ) -> None:
        self._strategy = strategy
        self._feed = feed
        self._journal = journal
        self._house = house
        self._cares = strategy.settings.manage != ManageSettings()
        self._trouble = ""
        self._window_before: RatesArray | None = None
        self.standing = standing
        self.lookout = Lookout(terminal, strategy.settings, journal, standing, house)
        self.actor = Actor(
            strategy=strategy,
            terminal=terminal,
            journal=journal,
            lookout=self.lookout,
            standing=standing,
            house=house,
        )

    @property
    def magic(self) -> int:
        """The strategy's number."""
        return self._strategy.settings.magic

    @property
    def symbol(self) -> str:
        """The strategy's symbol."""
        return self._strategy.settings.symbol

    def is_due(self) -> bool:
        """Whether a bar has closed that is not decided yet; a read that may be broken off.

        Raises:
            TerminalError: The terminal does not give bars.
        """
        return self._feed.is_due()

    def step(self) -> Step | None:
        """Decide the newest closed bar and act on it; None when no bar closed.

        Raises:
            TerminalError: The terminal does not even give bars.
        """
        bars = self._next()
        if bars is None:
            return None
        self._window_before = self._window(bars)
        signal = self._strategy.model.signal(self._window_before)
        scene = self.lookout.try_to_look()
        age = 0.0 if scene is None else self._age(bars, scene)
        holding = None if scene is None else self._holding(bars, scene)
        decision = self._decide(bars, signal, scene, holding)
        number = self._journal.decision(self._row(bars, signal, scene, holding, decision))
        results: Results = ()
        if scene is not None:
            results = self.actor.carry_out(decision, number, scene, bar_age=age)
            if decision.action is Action.HOLD:
                results = self._look_after(bars, scene, number)
        equity = None if scene is None else scene.account.equity
        return Step(self.magic, bars.time, signal, decision, equity, holding, results)

    def pass_over(self, bar_time: int) -> None:
        """Take the bars up to ``bar_time`` (open, server epoch seconds) for decided."""
        self._feed.pass_over(bar_time)

    def warm(self) -> None:
        """Run the model on the last window again: what it needs is in the processor's caches then.

        Worth it shortly before a bar closes: a rested model takes ten times as long.
        """
        if self._window_before is not None:
            self._strategy.model.signal(self._window_before)

    def refresh(self) -> None:
        """Ask for as many bars as a step needs, so that the terminal has them at hand.

        Raises:
            TerminalError: The terminal gives no bars.
        """
        self._feed.refresh()

    def _look_after(self, bars: ClosedBars, scene: Scene, number: int) -> Results:
        """Give the positions that are kept what they need, now that a bar has closed."""
        if not self._cares:
            return ()
        manage, symbol, last = self._strategy.settings.manage, scene.symbol, bars.rates[-1]
        spread = float(last["spread"]) * symbol.point or scene.tick.ask - scene.tick.bid
        recent = self._range(bars, scene)
        results: Results = ()
        for position in scene.own:
            if position.time >= bars.closed_at:
                continue
            side = BY_POSITION_TYPE[position.type]
            best, close = float(last["high"]), float(last["close"])
            if side is Side.SHORT:
                best, close = float(last["low"]) + spread, close + spread
            kept = Kept(
                side=side,
                opened=position.price_open,
                sl=position.sl,
                best=best,
                close=close,
                is_reduced=position.identifier in self.standing.reduced,
            )
            needed = care(kept, manage, range_points=recent, point=symbol.point)
            if needed.reason:
                self._tell("care", f"position #{position.ticket}: {needed.reason}")
                results += self.actor.keep(position, needed, number, scene)
        return results

    def _range(self, bars: ClosedBars, scene: Scene) -> float:
        bars_of_range = self._strategy.decision.range_bars
        return range_points(bars.rates, bars=bars_of_range, point=scene.symbol.point)

    def finish(self, number: int, bar_time: int, decision: Decision) -> Results:
        """Carry out a decision that a crash interrupted, if its bar is still the newest closed one.

        Args:
            number: Its row in the journal.
            bar_time: Open time of its bar, server epoch seconds.
            decision: As it was written.

        Raises:
            TerminalError: The terminal does not answer.
        """
        if self._feed.newest() != bar_time:
            self._tell(
                "dropped",
                f"{decision.action} of the bar {text(bar_time)} was not carried out and is too old",
            )
            return ()
        return self.actor.carry_out(decision, number, self.lookout.look(), bar_age=0.0)

    def flatten(self, why: str) -> Results:
        """Close the strategy's own positions now, whatever the signal says.

        Raises:
            TerminalError: The terminal does not answer.
        """
        self._tell("flatten", why)
        return self.actor.close(None, self.lookout.look())

    def _next(self) -> ClosedBars | None:
        try:
            bars = self._feed.next()
        except DataError as error:
            if str(error) != self._trouble:  # a short history is asked for again and again
                self._trouble = str(error)
                self._tell("data", self._trouble)
            return None
        if bars is not None:
            self._trouble = ""
            self._tell_of(bars)
        return bars

    def _tell_of(self, bars: ClosedBars) -> None:
        if bars.missed:
            first, last = text(bars.missed[0]), text(bars.missed[-1])
            count = len(bars.missed)
            self._tell(
                "missed", f"{count} bars closed unseen and are not traded: {first} to {last}"
            )
        for bar in bars.rewritten:
            self._tell(
                "rewritten",
                f"the server changed the bar {text(bar.time)} from {bar.before} to {bar.after} "
                "(open, high, low, close); what was decided on it stays decided",
            )

    def _age(self, bars: ClosedBars, scene: Scene) -> float:
        """Return how long the bar has been closed, seconds: the longer of what two clocks say.

        The server's ticks are right where this computer's clock is late, and silent in a quiet
        market; then the computer's clock counts.
        """
        now = max(scene.tick.time_msc / 1000, self._house.server_now())
        age = max(0.0, now - bars.closed_at)
        limit = self._house.limits.max_bar_age_seconds
        if limit is not None and age > limit:
            self._tell(
                "missed",
                f"the bar {text(bars.time)} closed {age:.0f} s ago, limit {limit:g} s: nothing is "
                "opened on it",
            )
        return age

    def _tell(self, kind: str, what: str) -> None:
        self._journal.event(kind, what, self._strategy.settings.magic)

    def _window(self, bars: ClosedBars) -> RatesArray:
        return bars.rates[-self._strategy.model.contract.window :]

    def _holding(self, bars: ClosedBars, scene: Scene) -> Holding | None:
        if not scene.own:
            return None
        first = scene.own[0]
        return Holding(
            ticket=first.ticket,
            side=BY_POSITION_TYPE[first.type],
            volume=round(sum(position.volume for position in scene.own), 8),
            bars=bars_since(bars.rates, self._strategy.timeframe.open_of(first.time)),
        )

    def _decide(
        self, bars: ClosedBars, signal: Signal, scene: Scene | None, holding: Holding | None
    ) -> Decision:
        if scene is None:
            return Decision(action=Action.HOLD, reason="the terminal did not answer")
        settings = self._strategy.decision
        recent = self._range(bars, scene) if settings.reads_range else 0.0
        standing = self.standing
        if standing.declined and wanted(signal, settings)[0] is not standing.declined:
            standing.declined = None
            self._journal.event("accepted", "the signal has changed", standing.magic)
        if is_weekend_near(bars.closed_at, self._strategy.settings.manage):
            action = Action.HOLD if holding is None else Action.CLOSE
            return Decision(action=action, reason=WEEKEND)
        return decide(signal, holding, settings, range_points=recent, declined=standing.declined)

    def _row(
        self,
        bars: ClosedBars,
        signal: Signal,
        scene: Scene | None,
        holding: Holding | None,
        decision: Decision,
    ) -> DecisionRow:
        return decision_row(
            self._strategy,
            self.standing,
            rates=self._window(bars),
            signal=signal,
            scene=scene,
            holding=holding,
            decision=decision,
        )
