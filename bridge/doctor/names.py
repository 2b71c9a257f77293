"""The broker's names that are like one that it does not have. Pure."""

from collections.abc import Iterable
from difflib import get_close_matches


def closest(wanted: str, names: Iterable[str], *, most: int = 5) -> list[str]:
    """Return names like ``wanted``: the same one with another prefix, suffix or case, best first.

    Only when there is none of these, names that are merely similar: another market is no help.

    Args:
        wanted: What was asked for.
        names: What there is.
        most: Longest answer.
    """
    known = list(names)
    core = _core(wanted)
    if variants := [each for each in known if _is_variant(core, _core(each))]:
        return sorted(variants, key=lambda each: (abs(len(each) - len(wanted)), each))[:most]
    folded = {each.casefold(): each for each in known}
    return [folded[each] for each in get_close_matches(wanted.casefold(), folded, n=most)]


def _core(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def _is_variant(wanted: str, there: str) -> bool:
    """Whether one name is the other with something hung on; half of a pair is no name of it."""
    if not wanted or not there:
        return False
    return wanted in there or (there in wanted and 2 * len(there) > len(wanted))
