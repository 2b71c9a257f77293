"""Group masks: the package's own matcher of symbol names.

Source: 231 answers of the wheel 5.0.6231.
"""

_ELEMENT_LIMIT = 255


def matches(mask: str, symbol: str) -> bool:
    """Return whether ``symbol`` is in the group that ``mask`` describes.

    A comma separated list; ``*`` stands for any run of characters, ``!`` excludes. The whole name
    has to match, in the same case. An exclusion wins wherever it stands, and a list of only
    exclusions holds nothing.
    """
    if mask == "*":
        return True
    included = False
    for part in mask.split(","):
        element = part.strip(" ")[:_ELEMENT_LIMIT]
        if element.startswith("!"):
            excluded = element.lstrip("!")
            if not excluded or _fits(excluded, symbol):
                return False
        elif element and _fits(element, symbol):
            included = True
    return included


def _fits(pattern: str, name: str) -> bool:
    """Match one element.

    On a mismatch the pattern starts again behind its last ``*``, at the character that did not
    fit: what was passed is never looked at again, so ``*AABC`` does not match ``AAABC``.
    """
    restart: int | None = None
    here = at = 0
    while at < len(name):
        wanted = pattern[here : here + 1]
        if wanted == "*":
            here += 1
            restart = here
        elif wanted == name[at]:
            here, at = here + 1, at + 1
        elif restart is None:
            return False
        elif here == restart:
            at = len(name) if here == len(pattern) else at + 1
        else:
            here = restart
    return not pattern[here:].strip("*")
