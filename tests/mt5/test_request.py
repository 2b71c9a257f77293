from hypothesis import given
from hypothesis import strategies as st

from bridge.mt5 import constants as mt5
from bridge.mt5.request import COMMENT_LIMIT, Purpose, Request, clip_comment


def test_what_is_absent_has_no_key() -> None:
    request = Request(
        purpose=Purpose.ENTRY, action=mt5.TRADE_ACTION_DEAL, symbol="EURUSD", magic=7, type=0
    )
    assert request.as_dict() == {"action": 1, "symbol": "EURUSD", "magic": 7, "type": 0}


@given(st.text(max_size=60))
def test_a_clipped_comment_fits_and_is_a_beginning(comment: str) -> None:
    clipped = clip_comment(comment)
    assert len(clipped.encode("utf-16-le")) // 2 <= COMMENT_LIMIT
    assert comment.encode("utf-16-le", "ignore").startswith(clipped.encode("utf-16-le"))


def test_short_comments_stay_and_long_ones_are_cut_between_characters() -> None:
    assert clip_comment("signal #42 приказ") == "signal #42 приказ"
    assert clip_comment("c" * 30) == "c" * 29
    assert clip_comment("\N{GRINNING FACE}" * 15) == "\N{GRINNING FACE}" * 14
