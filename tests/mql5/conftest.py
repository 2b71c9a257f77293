"""One compiler for all tests of a run; without g++ what needs it is skipped."""

import os

import pytest

from mql5.host.compiler import Compiler, has_compiler, session_compiler


@pytest.fixture(scope="session", autouse=True)
def _session_compiler(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let the processes of one run share what they compile."""
    if has_compiler():
        base = tmp_path_factory.getbasetemp()
        is_shared = "PYTEST_XDIST_WORKER" in os.environ
        session_compiler((base.parent if is_shared else base) / "mql5")


@pytest.fixture(scope="session")
def compiler(_session_compiler: None) -> Compiler:
    if not has_compiler():
        pytest.skip("no Linux with g++: MQL5 sources can't be compiled here")
    return session_compiler()
