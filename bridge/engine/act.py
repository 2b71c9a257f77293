"""Carry out a decision: build, ask the guard, execute. Nothing here decides."""

from collections.abc import Callable

from bridge.engine.lookout import Lookout
from bridge.engine.scene import House, Scene
from bridge.engine.standing import ENTRY, Held, Standing
from bridge.engine.strategy import Strategy
from bridge.journal.write import Journal
from bridge.mt5.records import TradePosition
from bridge.mt5.request import Purpose, Request
from bridge.mt5.retcodes import Outcome
from bridge.mt5.servertime import server_day
from bridge.mt5.terminal import Terminal
from bridge.risk.guard import Bounds, Facts, Ruling, Verdict, check
from bridge.risk.volume import floor_to_step
from bridge.settings import ExecutionSettings
from bridge.strategy.decide import Action, Decision
from bridge.strategy.manage import Care
from bridge.trade.build import build_close, build_entry, build_levels, to_tick
from bridge.trade.execute import TradeResult, execute
from bridge.trade.levels import level_fault, widened
from bridge.trade.size import size_entry

Results = tuple[TradeResult, ...]
Build = Callable[[Scene], Request | None]
"""Makes a request at the prices of a scene; None when there is nothing left to ask for."""
_TAKEN = (Outcome.DONE, Outcome.PARTIAL, Outcome.PLACED)
_NOT_AGAIN = (Outcome.DONE, Outcome.PLACED, Outcome.UNRESOLVED)


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
        self._bounds = Bounds(strategy.settings.risk, house.limits, strategy.settings.hours)
        self._house = house
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
            results += self.close_one(position.ticket, number, scene)
        return results

    def close_one(
        self, ticket: int, number: int | None, scene: Scene, volume: float | None = None
    ) -> Results:
        """Close a position, or ``volume`` lots of it, as the terminal shows it at each try."""
        execution = self._settings.execution
        results = self._pursue(
            lambda now: _closing(now, ticket, volume, self._settings.magic, execution),
            number,
            scene,
            goes_on=volume is None,
        )
        # What could not be had is asked for again between bars, until the position is gone.
        if volume is None and execution.retry_exits and not _is_done(results):
            self._lookout.put_off(ticket, scene.tick)
        return results

    def keep(
        self, position: TradePosition, needed: Care, number: int | None, scene: Scene
    ) -> Results:
        """Do what a kept position needs: move its stop, close a part of it."""
        results: Results = ()
        if needed.sl is not None:
            results += self.protect(position, needed.sl, number, scene)
        if needed.close_share > 0.0:
            part = floor_to_step(scene.symbol, position.volume * needed.close_share)
            least = scene.symbol.volume_min
            if part >= least and position.volume - part >= least:
                closed = self.close_one(position.ticket, number, scene, part)
                if any(each.happened for each in closed):
                    self._standing.reduced.add(position.identifier)
                results += closed
        return results

    def protect(
        self, position: TradePosition, sl: float, number: int | None, scene: Scene
    ) -> Results:
        """Move the stop loss of a position; what would be refused for sure is not sent."""
        level = to_tick(sl, scene.symbol)
        if self._settings.execution.widen_stops:
            level = widened(position, level, scene.symbol, scene.tick)
        request = build_levels(
            position=position,
            sl=level,
            tp=position.tp or None,
            symbol=scene.symbol,
            magic=self._settings.magic,
        )
        if level == position.sl:
            return ()
        if fault := level_fault(position, level, scene.symbol, scene.tick):
            verdict = Verdict("level", False, fault, "what the broker allows now")
            self._journal.denied(number, request, [verdict], verdict.rule)
            return ()
        return self._pursue(lambda now: request, number, scene)

    def _open(self, decision: Decision, number: int, scene: Scene, bar_age: float) -> Results:
        side = decision.side
        if side is None:
            return ()
        sizing = size_entry(
            self._terminal,
            side=side,
            stop_points=decision.stop_points,
            account=scene.account,
            symbol=scene.symbol,
            tick=scene.tick,
            settings=self._settings.risk,
        )
        if sizing.volume == 0.0:
            verdict = Verdict("size", False, sizing.words, f"minimum {scene.symbol.volume_min:g}")
            self._journal.denied(number, None, [verdict], verdict.rule)
            return ()
        return self._pursue(
            lambda now: build_entry(
                side=side,
                volume=sizing.volume,
                stop_points=decision.stop_points,
                take_points=decision.take_points,
                symbol=now.symbol,
                tick=now.tick,
                magic=self._settings.magic,
                settings=self._settings.execution,
            ),
            number,
            scene,
            bar_age=bar_age,
        )

    def _pursue(
        self,
        build: Build,
        number: int | None,
        scene: Scene,
        *,
        bar_age: float = 0.0,
        goes_on: bool = False,
    ) -> Results:
        """Send, and again at the prices of the moment while the server says that they moved.

        Each try is a new request that passes the guard; ``goes_on`` asks for what a partial fill
        has left, too.
        """
        results: Results = ()
        current: Scene | None = scene
        for _ in range(self._settings.execution.tries):
            request = None if current is None else build(current)
            if current is None or request is None:
                break
            result, current = self._send(request, number, current, bar_age)
            if result is None:
                break
            results += (result,)
            if not (result.retry or (goes_on and result.outcome is Outcome.PARTIAL)):
                break
        return results

    def _send(
        self, request: Request, number: int | None, scene: Scene, bar_age: float
    ) -> tuple[TradeResult | None, Scene | None]:
        """Return what became of a request, None when it was denied, and the scene after it."""
        ruling = check(request, self._facts(request, scene, bar_age), self._bounds)
        if ruling.halts:
            self._halt(ruling)
        if ruling.denial is not None:
            self._journal.denied(number, request, ruling.verdicts, ruling.denial.rule)
            return None, scene
        result = execute(self._terminal, self._journal, request, decision=number, ruling=ruling)
        if request.is_entry:
            self._house.tally.sent(self._house.server_now())
        self._remember(request, result)
        # Looked at again at once: a position that is opened and stopped out before the next bar
        # would otherwise leave no trace between two looks.
        return result, self._lookout.try_to_look()

    def _remember(self, request: Request, result: TradeResult) -> None:
        standing = self._standing
        if result.answer is not None:
            order = result.answer.order
            standing.sent.add(order)
            if request.is_entry and result.outcome in _TAKEN:
                standing.awaited.add(order)
                standing.stops[order] = request.sl or 0.0
        if result.outcome is Outcome.PLACED:
            standing.is_open = True
            if request.position:  # another exit beside it would open the other side when netting
                standing.reduce(request.position)
        if request.purpose is Purpose.EXIT and result.outcome is Outcome.DONE:
            standing.closed(request.position or 0, request.volume or 0.0)
        if request.purpose is Purpose.PROTECT:
            standing.positions = tuple(_moved(held, request, result) for held in standing.positions)
        if result.outcome is Outcome.UNRESOLVED:
            standing.reduce(request.position or ENTRY)
            self._journal.event(
                "unresolved", f"no more entries: {result.words}", self._settings.magic
            )

    def _facts(self, request: Request, scene: Scene, bar_age: float) -> Facts:
        house, day = self._house, server_day(scene.time)
        counts_currencies = request.is_entry and house.limits.max_currency_exposure is not None
        return Facts(
            account=scene.account,
            symbol=scene.symbol,
            tick=scene.tick,
            positions=scene.positions,
            baselines=self._standing.baselines,
            state=self._standing.state,
            unresolved=self._standing.unresolved | self._standing.awaited | self._standing.missing,
            alarms=self._standing.alarms,
            own_positions=scene.of_all,
            terms=self._lookout.terms(scene.of_all) if counts_currencies else {},
            server_time=scene.time,
            recent_entries=house.tally.recent_entries(house.server_now()),
            losses=house.tally.losses(day, self._settings.magic),
            account_losses=house.tally.losses(day),
            news=house.calendar.news,
            quote_age=scene.quote_age,
            bar_age=bar_age,
        )

    def _halt(self, ruling: Ruling) -> None:
        self._standing.halt()
        reasons = [f"{each.rule}: {each.value}" for each in ruling.verdicts if each.halts]
        self._journal.event("halt", f"no more entries: {'; '.join(reasons)}", self._settings.magic)


def _moved(held: Held, request: Request, result: TradeResult) -> Held:
    """Return what is remembered of a position after we have moved its levels, or may have."""
    if held.ticket != request.position or result.outcome is Outcome.REJECTED:
        return held
    if not result.happened:
        return held.moved(None, None)
    return held.moved(request.sl or 0.0, request.tp or 0.0)


def _closing(
    scene: Scene, ticket: int, volume: float | None, magic: int, execution: ExecutionSettings
) -> Request | None:
    """Return the request that closes a position as it is now; None when it is gone."""
    for position in scene.own:
        if position.ticket == ticket:
            return build_close(
                position=position,
                symbol=scene.symbol,
                tick=scene.tick,
                magic=magic,
                settings=execution,
                volume=volume,
            )
    return None


def _is_done(results: Results) -> bool:
    """Whether the last try closed the position, or nobody knows yet."""
    return bool(results) and results[-1].outcome in _NOT_AGAIN
