"""A fault that a file is refused for, before it is known in which line of the file it is."""


class Fault(Exception):
    """A row, or the file as a whole, can't be used.

    Args:
        reason: What is wrong, with the next step.
        row: Number of the row, 0 the first; None for the whole file.
        other: A second row that the reason names as ``{other}``.
    """

    def __init__(self, reason: str, row: int | None = None, other: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.row = row
        self.other = other
