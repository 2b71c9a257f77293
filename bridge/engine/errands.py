"""Between bars, for one strategy: finish what the server has put off, and keep stops in place.

Nothing here opens a position. It runs when the watch looks.
"""

from bridge.clock import Clock
from bridge.engine.act import Actor
from bridge.engine.lookout import Lookout
from bridge.engine.scene import House, Scene
from bridge.engine.settle import Search, Settler
from bridge.engine.standing import Refusal, Standing
from bridge.errors import TerminalError
from bridge.journal.write import Journal
from bridge.mt5.records import TradePosition
from bridge.settings import StrategySettings, WithoutStop


class Errands:
    """One strategy's errands.

    Args:
        settings: Of the strategy.
        journal: Where they are told.
        lookout: Asked for the scene.
        actor: Sends.
        settler: Settles orders whose end is not known.
        standing: What is to be done.
        clock: Of the run.
        house: What all strategies share.
    """

    def __init__(
        self,
        *,
        settings: StrategySettings,
        journal: Journal,
        lookout: Lookout,
        actor: Actor,
        settler: Settler,
        standing: Standing,
        clock: Clock,
        house: House,
    ) -> None:
        self._settings = settings
        self._journal = journal
        self._lookout = lookout
        self._actor = actor
        self._settler = settler
        self._standing = standing
        self._clock = clock
        self._house = house

    def run(self) -> None:
        """Do what there is to do; a terminal that does not answer is asked at the next look."""
        standing = self._standing
        try:
            if standing.is_open:
                self._settler.settle(self._clock.now(), Search())
            if standing.unprotected or standing.closing:
                self._attend(self._lookout.look())
        except TerminalError:
            return  # the watch tells that the terminal is silent

    def _attend(self, scene: Scene) -> None:
        own = {position.ticket: position for position in scene.own}
        standing = self._standing
        for ticket in [each for each in standing.closing if each not in own]:
            del standing.closing[ticket]
        for ticket in [each for each in standing.unprotected if each not in own]:
            del standing.unprotected[ticket]
        for ticket, refusal in list(standing.closing.items()):
            if self._may_try(refusal, scene):
                self._actor.close_one(ticket, None, scene)
        for ticket in list(standing.unprotected):
            self._protect(own[ticket], scene)

    def _may_try(self, refusal: Refusal, scene: Scene) -> bool:
        """Whether there is a price that was not there at the refusal, and some time has passed."""
        return self._house.server_now() >= refusal.due and scene.tick.time_msc != refusal.tick_msc

    def _protect(self, position: TradePosition, scene: Scene) -> None:
        """Set the stop loss that the broker did not take over; after some tries, give up on it."""
        standing, execution = self._standing, self._settings.execution
        wanted = standing.stops.get(position.identifier, 0.0)
        if position.sl or not wanted:
            del standing.unprotected[position.ticket]
            return
        if standing.unprotected[position.ticket] < execution.stop_tries:
            standing.unprotected[position.ticket] += 1
            self._actor.protect(position, wanted, None, scene)
            return
        del standing.unprotected[position.ticket]
        standing.stops[position.identifier] = 0.0
        what = f"the stop loss {wanted:g} of position #{position.ticket} can't be set"
        if execution.without_stop is WithoutStop.CLOSE:
            self._journal.event("unprotected", f"{what}: it is closed", standing.magic)
            self._actor.close_one(position.ticket, None, scene)
        else:
            self._journal.event("unprotected", f"{what}: it is kept without one", standing.magic)
