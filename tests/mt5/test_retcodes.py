from bridge.mt5 import constants
from bridge.mt5.retcodes import BY_CODE, Outcome, retcode

NAMED = {value for name, value in vars(constants).items() if name.startswith("TRADE_RETCODE_")}


def test_every_constant_zero_and_10046_have_a_meaning() -> None:
    assert len(NAMED) == 40
    assert set(BY_CODE) == NAMED | {0, 10046}


def test_every_meaning_has_words() -> None:
    assert all(entry.words for entry in BY_CODE.values())


def test_a_refusal_says_what_to_do_or_needs_nothing() -> None:
    nothing_to_do = {
        constants.TRADE_RETCODE_NO_CHANGES,
        constants.TRADE_RETCODE_POSITION_CLOSED,
        constants.TRADE_RETCODE_ONLY_REAL,
        constants.TRADE_RETCODE_LIMIT_POSITIONS,
    }
    silent = {
        entry.code
        for entry in BY_CODE.values()
        if entry.outcome in (Outcome.REJECTED, Outcome.UNRESOLVED) and not entry.advice
    }
    assert silent == nothing_to_do


def test_only_the_codes_of_success_are_success() -> None:
    by_outcome = {
        outcome: {entry.code for entry in BY_CODE.values() if entry.outcome is outcome}
        for outcome in Outcome
    }
    assert by_outcome[Outcome.DONE] == {0, 10009}
    assert by_outcome[Outcome.PARTIAL] == {10010}
    assert by_outcome[Outcome.PLACED] == {10008}
    assert by_outcome[Outcome.UNRESOLVED] == {10012, 10031}


def test_only_moved_prices_may_be_tried_again() -> None:
    assert {entry.code for entry in BY_CODE.values() if entry.retry} == {10004, 10020, 10021}


def test_an_unknown_code_is_unresolved() -> None:
    for code in (-1, 1, 10005, 10047, 99999):
        assert retcode(code).outcome is Outcome.UNRESOLVED
        assert str(code) in retcode(code).words
