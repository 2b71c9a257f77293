"""One compiler for all tests of a process; without g++ what needs it is skipped."""

import pytest

from mql5.host.compiler import Compiler, has_compiler, session_compiler


@pytest.fixture(scope="session")
def compiler() -> Compiler:
    if not has_compiler():
        pytest.skip("no g++: MQL5 sources can't be compiled here")
    return session_compiler()
