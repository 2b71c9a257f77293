"""Any sequence of requests and bars keeps the books right, on hedging and netting accounts."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from terminal.paper_desk import KINDS, MONDAY, Play, profile, spec

from bridge.mt5.rates import RatesArray, rates_of
from bridge.terminal.paper.script import Placed

CENT = 0.0051
BARS = 60
COSTS = {"swap_mode": 1, "swap_long": -3.0, "swap_short": 1.0, "spread": 7}
VOLUMES = st.sampled_from([0.01, 0.05, 0.1, 0.3, 1.0])
POINTS = st.integers(-80, 80)


def walk(moves: list[tuple[int, int, int]], start: int = MONDAY) -> RatesArray:
    """Return bars whose close, upper and lower wick are ``moves``, points."""
    rows = []
    price = 110_000
    for number, (move, up, down) in enumerate(moves):
        close = price + move
        high, low = max(price, close) + abs(up), min(price, close) - abs(down)
        prices = [round(points * 1e-5, 5) for points in (price, high, low, close)]
        rows.append((start + number * 3_600, *prices, 10, number % 13, 0))
        price = close + move // 3
    return rates_of(rows)


MOVES = st.lists(st.tuples(POINTS, POINTS, POINTS), min_size=BARS, max_size=BARS)


def check_books(play: Play) -> None:
    """Assert what is true of an account at any time."""
    module = play.terminal
    info = module.account_info()
    deals = module.history_deals_get(0, 2**31 - 1)
    booked = sum(d.profit + d.swap + d.commission + d.fee for d in deals)
    held = module.positions_get()
    assert abs(info.balance - booked) < CENT
    assert abs(info.profit - sum(p.profit + p.swap for p in held)) < CENT
    assert abs(info.equity - info.balance - info.profit) < CENT
    assert abs(info.margin_free - (info.equity - info.margin)) < CENT
    assert (info.margin > 0) == bool(held)
    assert [p.ticket for p in held] == sorted(p.ticket for p in held)
    assert [d.time_msc for d in deals] == sorted(d.time_msc for d in deals)
    tickets = [d.ticket for d in deals]
    assert tickets == sorted(set(tickets))
    for position in held:
        lots = sum(
            d.volume * (-1) ** d.type
            for d in module.history_deals_get(position=position.identifier)
        )
        assert abs(lots - position.volume * (-1) ** position.type) < 1e-9


UNFILLED = (2, 5, 6)
CLOSE_BY = 8


def check_orders(play: Play) -> None:
    """Assert what is true of orders at any time."""
    module = play.terminal
    history, waiting = module.history_orders_get(0, 2**31 - 1), module.orders_get()
    tickets = [order.ticket for order in (*history, *waiting)]
    assert len(tickets) == len(set(tickets))
    assert [o.ticket for o in waiting] == sorted(o.ticket for o in waiting)
    assert [o.time_done for o in history] == sorted(o.time_done for o in history)
    dealt: dict[int, float] = {}
    for deal in module.history_deals_get(0, 2**31 - 1):
        dealt[deal.order] = dealt.get(deal.order, 0.0) + deal.volume
    for order in history:
        filled = order.volume_initial - order.volume_current
        legs = 2 if order.type == CLOSE_BY else 1
        assert abs(dealt.get(order.ticket, 0.0) - legs * filled) < 1e-9
        assert (order.state in UNFILLED) == (filled == 0.0)
        assert order.time_done >= order.time_setup
    for order in waiting:
        assert order.ticket not in dealt
        assert (order.time_done, order.state) == (0, 1)
        above = KINDS[order.type] in ("sell limit", "buy stop", "buy stop limit")
        assert (order.price_open > order.price_current) == above
        assert order.type_time != 2 or order.time_expiration > module.server_time()


class Account(RuleBasedStateMachine):
    """Random sends on random bars."""

    margin_mode = "hedging"

    @initialize(moves=MOVES)
    def open_account(self, moves: list[tuple[int, int, int]]) -> None:
        broker = profile(
            {"EURUSD": spec(**COSTS)}, commission=2.5, margin_mode=self.margin_mode, deposit=1_500.0
        )
        self.play = Play(walk(moves), broker)
        self.at = 0

    @rule(steps=st.integers(1, 9))
    def let_time_pass(self, steps: int) -> None:
        self.at = min(self.at + steps, BARS - 1)
        self.play.bar(self.at)

    @rule(side=st.integers(0, 1), volume=VOLUMES, sl=st.integers(0, 90), tp=st.integers(0, 90))
    def deal(self, side: int, volume: float, sl: int, tp: int) -> None:
        tick = self.play.terminal.symbol_info_tick("EURUSD")
        sign, price = (-1, tick.ask) if side else (1, tick.bid)
        levels = {}
        if sl:
            levels["sl"] = round(price - sign * sl * 1e-5, 5)
        if tp:
            levels["tp"] = round(price + sign * tp * 1e-5, 5)
        checked = self.play.terminal.order_check(
            {"action": 1, "symbol": "EURUSD", "volume": volume, "type": side, **levels}
        )
        sent = self.play.send(type=side, volume=volume, **levels)
        assert (checked.retcode, sent.retcode) in ((0, 10009), (10019, 10019))
        if sent.retcode == 10009:
            assert abs(self.play.terminal.account_info().margin - checked.margin) < CENT

    @rule(choice=st.integers(0, 5), share=st.sampled_from([0.5, 1.0]))
    def close_something(self, choice: int, share: float) -> None:
        held = self.play.terminal.positions_get()
        if held:
            position = held[choice % len(held)]
            volume = max(0.01, round(position.volume * share, 2))
            assert self.play.close(position.ticket, volume).retcode == 10009

    @rule(choice=st.integers(0, 5), distance=st.integers(1, 200))
    def move_a_stop(self, choice: int, distance: int) -> None:
        held = self.play.terminal.positions_get()
        if held:
            position = held[choice % len(held)]
            sign = -1 if position.type else 1
            sl = round(position.price_current - sign * distance * 1e-5, 5)
            assert self.play.protect(position.ticket, sl=sl).retcode in (10009, 10025)

    @rule(
        kind=st.integers(2, 7),
        away=st.integers(1, 120),
        depth=st.integers(1, 40),
        volume=VOLUMES,
        sl=st.integers(0, 90),
        tp=st.integers(0, 90),
        lasts=st.integers(0, 3),
        hours=st.integers(1, 40),
    )
    def place(self, kind: int, away: int, depth: int, volume: float, **rest: int) -> None:
        self.send_order({"action": 5, "type": kind, "volume": volume}, kind, away, depth, **rest)

    @rule(
        choice=st.integers(0, 9),
        away=st.integers(1, 120),
        depth=st.integers(1, 40),
        sl=st.integers(0, 90),
        tp=st.integers(0, 90),
        lasts=st.integers(0, 3),
        hours=st.integers(1, 40),
    )
    def modify(self, choice: int, away: int, depth: int, **rest: int) -> None:
        waiting = self.play.terminal.orders_get()
        if waiting:
            order = waiting[choice % len(waiting)]
            request = {"action": 7, "order": order.ticket}
            self.send_order(request, order.type, away, depth, **rest)

    def send_order(
        self,
        request: dict[str, Any],
        kind: int,
        away: int,
        depth: int,
        *,
        sl: int,
        tp: int,
        lasts: int,
        hours: int,
    ) -> None:
        """Send an order ``away`` points from the market, its limit ``depth`` from its stop."""
        tick = self.play.terminal.symbol_info_tick("EURUSD")
        sign = -1 if kind & 1 else 1
        above = KINDS[kind] in ("sell limit", "buy stop", "buy stop limit")
        price = (tick.bid if kind & 1 else tick.ask) + (away if above else -away) * 1e-5
        limit = price - sign * depth * 1e-5
        filled = limit if kind in (6, 7) else price
        end = int(self.play.terminal.server_time()) + hours * 3_600
        levels = {"sl": filled - sign * sl * 1e-5 if sl else 0.0}
        levels["tp"] = filled + sign * tp * 1e-5 if tp else 0.0
        prices = {"price": price, "stoplimit": limit if kind in (6, 7) else 0.0, **levels}
        request |= {"symbol": "EURUSD", "type_time": lasts, "expiration": end if lasts > 1 else 0}
        request |= {name: round(value, 5) for name, value in prices.items()}
        checked = self.play.terminal.order_check(request)
        sent = self.play.terminal.order_send(request)
        assert (checked.retcode, sent.retcode) in ((0, 10009), (10025, 10025))

    @rule(choice=st.integers(0, 9))
    def remove(self, choice: int) -> None:
        waiting = self.play.terminal.orders_get()
        if waiting:
            assert self.play.remove(waiting[choice % len(waiting)].ticket).retcode == 10009

    @rule(choice=st.integers(0, 9))
    def close_two(self, choice: int) -> None:
        held = self.play.terminal.positions_get()
        buys, sells = ([one for one in held if one.type == side] for side in (0, 1))
        if buys and sells:
            pair = [buys[choice % len(buys)].ticket, sells[choice % len(sells)].ticket]
            before = self.play.terminal.account_info()
            assert self.play.close_by(*(pair if choice & 1 else pair[::-1])).retcode == 10009
            # Two spreads are saved and nothing else happens to what the account is worth.
            volume = self.play.terminal.history_orders_get(0, 2**31 - 1)[-1].volume_initial
            saved = self.play.terminal.account_info().equity - before.equity
            spread = self.play.terminal.symbol_info("EURUSD").spread * volume
            assert abs(saved - spread) < 3 * CENT

    @invariant()
    def books_are_right(self) -> None:
        if hasattr(self, "play"):
            check_books(self.play)
            check_orders(self.play)

    def teardown(self) -> None:
        if hasattr(self, "play"):
            self.play.terminal.close()


class NettingAccount(Account):
    margin_mode = "netting"


_SETTINGS = settings(
    max_examples=40, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)
TestHedging = Account.TestCase
TestHedging.settings = _SETTINGS
TestNetting = NettingAccount.TestCase
TestNetting.settings = _SETTINGS


def script(play: Play, first: int, last: int) -> list[Any]:
    """Trade bars ``first`` to ``last`` by a fixed plan; return everything that was answered."""
    answers = []
    for number in range(first, last):
        play.bar(number)
        tick = play.terminal.symbol_info_tick("EURUSD")
        if number % 3 == 0:
            side = number % 2
            sl = round(tick.ask + 0.0006, 5) if side else round(tick.bid - 0.0006, 5)
            answers.append(play.send(type=side, sl=sl, magic=number))
        if number % 5 == 1:
            limit, stop = round(tick.ask - 0.0003, 5), round(tick.bid - 0.0004, 5)
            answers.append(play.place("buy limit", limit, magic=number, type_time=number % 2))
            answers.append(play.place("sell stop", stop, volume=0.05, tp=stop - 0.0005))
        if number % 7 == 3 and (waiting := play.terminal.orders_get()):
            answers.append(play.modify(waiting[0].ticket, price=waiting[0].price_open - 0.0001))
            answers.append(play.remove(waiting[-1].ticket))
        if number % 7 == 5 and (held := play.terminal.positions_get()):
            answers.append(play.close(held[0].ticket, 0.05))
            answers.append(play.protect(held[-1].ticket, sl=0.0, tp=0.0))
        answers.append(play.terminal.account_info())
        answers.append(play.terminal.positions_get())
        answers.append(play.terminal.orders_get())
    return answers


def everything(play: Play) -> tuple[Any, ...]:
    module = play.terminal
    return (
        module.account_info(),
        module.positions_get(),
        module.orders_get(),
        module.history_orders_get(0, 2**31 - 1),
        module.history_deals_get(0, 2**31 - 1),
    )


def left_by_a_kill(path: Path) -> Path:
    """Return a copy of an account's file as a process that is killed now would leave it."""
    copy = path.with_name("copy.sqlite")
    for ending in ("", "-wal"):
        left = Path(f"{path}{ending}")
        if left.exists():
            Path(f"{copy}{ending}").write_bytes(left.read_bytes())
    return copy


CALLS: list[Callable[[Play], Any]] = [
    lambda play: play.buy(),
    lambda play: play.buy(volume=0.3, sl=1.09),
    lambda play: play.place("buy limit", 1.05, type_time=1, sl=1.04),
    lambda play: play.place("sell stop limit", 1.06, stoplimit=1.07),
    lambda play: play.protect(play.terminal.positions_get()[0].ticket, tp=1.2),
    lambda play: play.modify(play.terminal.orders_get()[1].ticket, price=1.04, sl=1.03),
    lambda play: play.sell(volume=0.1),
    lambda play: play.close_by(*(one.ticket for one in play.terminal.positions_get())),
    lambda play: play.sell(volume=0.1),
    lambda play: play.remove(play.terminal.orders_get()[2].ticket),
    lambda play: play.close(play.terminal.positions_get()[0].ticket, 0.1),
]


def test_a_kill_between_any_two_calls_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "account.sqlite"
    rows = walk([(0, 10, 10)] * BARS)
    play = Play(rows, account=path, script=[Placed("rejected")])
    for call in CALLS:
        assert call(play).retcode in (10008, 10009)
        known = everything(play)
        killed = Play(rows, account=left_by_a_kill(path), start=play.clock.now())
        assert everything(killed) == known
        killed.terminal.close()
    play.terminal.close()


@pytest.mark.parametrize("margin_mode", ["hedging", "netting"])
@pytest.mark.parametrize("closed", [True, False], ids=["closed", "killed"])
def test_an_account_continues_exactly_after_a_restart(
    tmp_path: Path, margin_mode: str, closed: bool
) -> None:
    moves = [((n * 37) % 91 - 45, (n * 53) % 61, (n * 71) % 67) for n in range(BARS)]
    broker = profile({"EURUSD": spec(**COSTS)}, commission=2.5, margin_mode=margin_mode)
    whole = Play(walk(moves), broker)
    expected = script(whole, 0, BARS)

    path = tmp_path / "account.sqlite"
    half = Play(walk(moves), broker, account=path)
    answers = script(half, 0, 31)
    if closed:
        half.terminal.close()
    else:  # a killed process leaves the file as the last transaction wrote it
        copy = left_by_a_kill(path)
        half.terminal.close()
        path = copy
    rest = Play(walk(moves), broker, account=path, start=MONDAY + 31 * 3_600)
    answers += script(rest, 31, BARS)
    assert answers == expected
    assert everything(rest) == everything(whole)
    assert len(whole.deals()) > 20
    rest.terminal.close()


def test_a_stop_is_hit_while_nobody_was_there(tmp_path: Path) -> None:
    rows = """110000 110010 109990 110000
              110000 110010 109000 109010
              109010 109020 109000 109010"""
    path = tmp_path / "account.sqlite"
    play = Play(rows, account=path)
    play.buy(sl=1.0995)
    play.terminal.close()
    later = Play(rows, account=path, start=MONDAY + 2 * 3_600)
    assert later.deals()[-1] == "1.33 sell out 0.1 1.0995 -5 sl"
    assert later.terminal.history_deals_get(0, 2**31 - 1)[-1].time == MONDAY + 3_600 + 1_200
    later.terminal.close()


@settings(max_examples=15, deadline=None)
@given(moves=MOVES, cut=st.integers(1, BARS - 1), late=st.integers(0, 3_599))
def test_nothing_depends_on_bars_that_have_not_opened(
    moves: list[tuple[int, int, int]], cut: int, late: int
) -> None:
    full = walk(moves)
    seen = []
    for known in (full, full[: cut + 1]):
        play = Play(known, profile({"EURUSD": spec(**COSTS)}))
        play.buy(sl=1.0995, tp=1.1005)
        play.clock.wait_until(MONDAY + cut * 3_600 + late)
        module = play.terminal
        rates = module.copy_rates_from_pos("EURUSD", 16385, 0, 500)
        ranged = module.copy_rates_range("EURUSD", 16385, MONDAY, MONDAY + 10**6)
        ticks = module.copy_ticks_from("EURUSD", MONDAY, 500, -1)
        assert rates["time"][-1] == MONDAY + cut * 3_600
        assert ranged.tobytes() == rates.tobytes()
        assert ticks["time"][-1] <= MONDAY + cut * 3_600 + late
        info = module.symbol_info("EURUSD")
        seen.append((rates.tobytes(), ticks.tobytes(), everything(play), info))
        play.terminal.close()
    assert seen[0] == seen[1]


def test_a_forming_bar_shows_its_open_alone() -> None:
    play = Play("110000 110100 109900 110050 12\n110050 110100 110000 110060 12")
    play.bar(1)
    (row,) = play.terminal.copy_rates_from_pos("EURUSD", 16385, 0, 1)
    assert tuple(row)[1:] == (1.1005, 1.1005, 1.1005, 1.1005, 1, 12, 0)
    play.clock.wait_until(MONDAY + 2 * 3_600 - 1)
    (row,) = play.terminal.copy_rates_from_pos("EURUSD", 16385, 0, 1)
    assert tuple(row)[1:] == (1.1005, 1.101, 1.1, 1.1006, 100, 12, 0)
    tick = play.terminal.symbol_info_tick("EURUSD")
    assert (tick.time, tick.bid, tick.ask) == (MONDAY + 2 * 3_600 - 1, 1.1006, 1.10072)
