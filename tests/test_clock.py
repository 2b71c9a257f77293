import pytest

from bridge.clock import Clock, ManualClock, ScaledClock, SystemClock


def scaled(speed: float, longest: float = 1e9) -> tuple[ScaledClock, ManualClock]:
    real = ManualClock(1_000.0)
    return ScaledClock(0.0, speed=speed, longest_wait=longest, real=real), real


def test_replay_time_passes_at_its_speed() -> None:
    clock, real = scaled(60.0)
    clock.wait_until(120.0)
    assert (clock.now(), real.now()) == (120.0, 1_002.0)
    clock.wait_until(60.0)
    assert (clock.now(), real.now()) == (120.0, 1_002.0)


def test_replay_time_stands_still_while_work_is_done_and_makes_up_for_it() -> None:
    clock, real = scaled(60.0)
    clock.wait_until(60.0)
    real.wait_until(real.now() + 0.75)
    assert clock.now() == 60.0
    clock.wait_until(120.0)
    assert (clock.now(), real.now()) == (120.0, 1_002.0)
    # Five seconds of work are more than the next wait: it is not made up for afterwards.
    real.wait_until(real.now() + 5.0)
    clock.wait_until(180.0)
    assert real.now() == 1_007.0
    clock.wait_until(240.0)
    assert real.now() == 1_008.0


def test_a_weekend_is_skipped() -> None:
    clock, real = scaled(3_600.0, longest=3_600.0)
    clock.wait_until(48 * 3_600.0)
    assert (clock.now(), real.now()) == (48 * 3_600.0, 1_001.0)


@pytest.mark.parametrize("clock", [ManualClock(5.0), SystemClock()])
def test_waiting_reaches_the_instant_and_never_goes_back(clock: Clock) -> None:
    then = clock.now() + 0.02
    clock.wait_until(then)
    assert clock.now() >= then
    clock.wait_until(then - 100.0)
    assert clock.now() >= then
