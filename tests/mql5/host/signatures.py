"""The terminal's functions: a table written from its reference, by hand."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

TABLE = Path(__file__).parents[1] / "shim" / "signatures.txt"


@dataclass(frozen=True, slots=True)
class Signature:
    """A function of the terminal.

    Attributes:
        page: Page of the MQL5 reference that has it, below ``/en/docs/``.
        owner: Type whose method it is; empty for a function.
        fewest, most: How many arguments it takes.
    """

    page: str
    owner: str
    name: str
    text: str
    fewest: int
    most: int

    @classmethod
    def read(cls, page: str, text: str) -> "Signature":
        """Read a line of the table."""
        head, _, rest = text.partition("(")
        name = head.split()[-1]
        owner, _, name = name.rpartition("::")
        parts = [part.strip() for part in _split(rest.rsplit(")", 1)[0])]
        needed = [part for part in parts if "=" not in part and part != "..."]
        return cls(page, owner, name, text, len(needed), 64 if "..." in parts else len(parts))


def _split(text: str) -> list[str]:
    return [part for part in text.split(",") if part.strip() not in ("", "void")]


@cache
def signatures() -> dict[str, tuple[Signature, ...]]:
    """Return the functions by name, with all of their forms."""
    found: dict[str, tuple[Signature, ...]] = {}
    for line in TABLE.read_text(encoding="ascii").splitlines():
        if line and not line.startswith("#"):
            page, _, text = line.partition("|")
            one = Signature.read(page.strip(), text.strip())
            found[one.name] = (*found.get(one.name, ()), one)
    return found


def takes(name: str, count: int) -> bool:
    """Whether the terminal's function takes so many arguments."""
    forms = [one for one in signatures()[name] if not one.owner]
    return any(one.fewest <= count <= one.most for one in forms)
