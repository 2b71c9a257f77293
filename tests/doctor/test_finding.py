"""What many findings come to."""

from dataclasses import replace

import pytest

from bridge.doctor.finding import Finding, Grade, exit_code, fail, ok, skipped, warn, worst

SKIPPED, OK, WARN = skipped("a", "b"), ok("a"), warn("a", "b")


@pytest.mark.parametrize(
    ("findings", "grade", "code"),
    [
        ([], Grade.OK, 0),
        ([SKIPPED, OK], Grade.OK, 0),
        ([OK, WARN, SKIPPED], Grade.WARN, 0),
        ([OK, fail(4, "a", "b"), WARN], Grade.FAIL, 4),
        ([fail(3, "a", "b"), fail(2, "c", "d"), fail(4, "e", "f")], Grade.FAIL, 3),
    ],
)
def test_the_gravest_counts_and_the_first_fault_names_the_code(
    findings: list[Finding], grade: Grade, code: int
) -> None:
    assert (worst(findings), exit_code(findings)) == (grade, code)


def test_a_finding_is_frozen_and_takes_its_name_later() -> None:
    assert replace(WARN, check="disk").check == "disk"
    assert WARN.check == ""
