"""Values of the tester's statistics that are more than a number, each with its text."""

from dataclasses import dataclass

from bridge.report.tester.words import money


@dataclass(frozen=True, slots=True)
class Part:
    """So many of a whole; ``share`` is 0-1, None of nothing."""

    count: int
    share: float | None

    def __str__(self) -> str:
        return f"{self.count}" if self.share is None else f"{self.count} ({self.share:.2%})"


@dataclass(frozen=True, slots=True)
class Fall:
    """A drawdown: account currency, and share of the height it fell from."""

    money: float
    share: float

    def __str__(self) -> str:
        return f"{money(self.money)} ({self.share:.2%})"


@dataclass(frozen=True, slots=True)
class Run:
    """Trades in a row that all won or all lost, and what they came to."""

    count: int
    money: float

    def __str__(self) -> str:
        return f"{self.count} ({money(self.money)})"


@dataclass(frozen=True, slots=True)
class Score:
    """A Z-score and the confidence, 0-1, that the order of wins and losses is no accident."""

    value: float
    confidence: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.confidence:.2%})"


@dataclass(frozen=True, slots=True)
class Ratio:
    """A factor by which the balance grew, 1.0 is not at all."""

    value: float

    def __str__(self) -> str:
        return f"{self.value:.4f} ({self.value - 1:.2%})"


@dataclass(frozen=True, slots=True)
class Span:
    """A length of time, seconds."""

    seconds: float

    def __str__(self) -> str:
        whole = int(self.seconds)
        return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


Value = Part | Fall | Run | Score | Ratio | Span | float | int
