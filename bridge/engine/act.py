"""Carry out a decision: build, ask the guard, execute. Nothing here decides."""

from dataclasses import asdict

from bridge.engine.scene import House, Lookout, Scene
from bridge.engine.standing import Standing
from bridge.engine.strategy import Strategy
from bridge.journal.write import Journal
from bridge.mt5.request import Request
from bridge.mt5.retcodes import Outcome
from bridge.mt5.terminal import Terminal
from bridge.risk.guard import Bounds, Facts, Ruling, Verdict, check
from bridge.strategy.decide import Action, Decision
from bridge.trade.build import build_close, build_entry
from bridge.trade.execute import TradeResult, execute
from bridge.trade.size import size_entry

Results = tuple[TradeResult, ...]
_TAKEN = (Outcome.DONE, Outcome.PARTIAL, Outcome.PLACED)


class Actor:
    """Sends what one strategy decided.

    Args:
        strategy: Its settings size, limit and mark the requests.
        terminal: Where they go.
        journal: Where they are written before.
        lookout: Asked again after each send.
        standing: What outlasts a bar.
        house: What all strategies share.
    """

    def __init__(
        self,
        *,
        strategy: Strategy,
        terminal: Terminal,
        journal: Journal,
        lookout: Lookout,
        standing: Standing,
        house: House,
    ) -> None:
        self._settings = strategy.settings
        self._bounds = Bounds(strategy.settings.risk, house.limits)
        self._terminal = terminal
        self._journal = journal
        self._lookout = lookout
        self._standing = standing

    def carry_out(
        self, decision: Decision, number: int, scene: Scene, *, bar_age: float
    ) -> Results:
        """Do what a decision asks for.

        Args:
            decision: What to do.
            number: Its row in the journal.
            scene: What the terminal shows.
            bar_age: How long its bar has been closed, seconds.
        """
        if decision.action is Action.HOLD:
            return ()
        if decision.action is Action.OPEN:
            return self._open(decision, number, scene, bar_age)
        closed = self.close(number, scene)
        if decision.action is Action.CLOSE or not all(each.happened for each in closed):
            return closed
        # A reversal opens only what the terminal shows to be closed.
        again = self._lookout.try_to_look()
        if again is None or again.own:
            return closed
        return closed + self._open(decision, number, again, bar_age)

    def close(self, number: int | None, scene: Scene) -> Results:
        """Close the strategy's own positions; ``number`` is None without a decision."""
        results: Results = ()
        for position in scene.own:
            request = build_close(
                position=position,
                symbol=scene.symbol,
                tick=scene.tick,
                magic=self._settings.magic,
                settings=self._settings.execution,
            )
            results += self._send(request, number, scene)
        return results

    def _open(self, decision: Decision, number: int, scene: Scene, bar_age: float) -> Results:
        if decision.side is None:
            return ()
        sizing = size_entry(
            self._terminal,
            side=decision.side,
            stop_points=decision.stop_points,
            account=scene.account,
            symbol=scene.symbol,
            tick=scene.tick,
            settings=self._settings.risk,
        )
        if sizing.volume == 0.0:
            verdict = Verdict("size", False, sizing.words, f"minimum {scene.symbol.volume_min:g}")
            self._journal.denied(number, None, [asdict(verdict)], verdict.rule)
            return ()
        request = build_entry(
            side=decision.side,
            volume=sizing.volume,
            stop_points=decision.stop_points,
            take_points=decision.take_points,
            symbol=scene.symbol,
            tick=scene.tick,
            magic=self._settings.magic,
            settings=self._settings.execution,
        )
        return self._send(request, number, scene, bar_age)

    def _send(
        self, request: Request, number: int | None, scene: Scene, bar_age: float = 0.0
    ) -> Results:
        ruling = check(request, self._facts(scene, bar_age), self._bounds)
        if ruling.halts:
            self._halt(ruling)
        if ruling.denial is not None:
            verdicts = [asdict(verdict) for verdict in ruling.verdicts]
            self._journal.denied(number, request, verdicts, ruling.denial.rule)
            return ()
        result = execute(self._terminal, self._journal, request, decision=number, ruling=ruling)
        if result.answer is not None:
            self._standing.sent.add(result.answer.order)
            if request.is_entry and result.outcome in _TAKEN:
                self._standing.awaited.add(result.answer.order)
        if result.outcome is Outcome.UNRESOLVED:
            self._standing.reduce(request.position or 0)
            self._journal.event(
                "unresolved", f"no more entries: {result.words}", self._settings.magic
            )
        # Looked at again at once: a position that is opened and stopped out before the next bar
        # would otherwise leave no trace between two looks.
        self._lookout.try_to_look()
        return (result,)

    def _facts(self, scene: Scene, bar_age: float) -> Facts:
        return Facts(
            account=scene.account,
            symbol=scene.symbol,
            tick=scene.tick,
            positions=scene.positions,
            baselines=self._standing.baselines,
            state=self._standing.state,
            unresolved=self._standing.unresolved | self._standing.awaited,
            alarms=self._standing.alarms,
            total_positions=scene.total,
            quote_age=scene.quote_age,
            bar_age=bar_age,
        )

    def _halt(self, ruling: Ruling) -> None:
        self._standing.halt()
        reasons = [f"{each.rule}: {each.value}" for each in ruling.verdicts if each.halts]
        self._journal.event("halt", f"no more entries: {'; '.join(reasons)}", self._settings.magic)
