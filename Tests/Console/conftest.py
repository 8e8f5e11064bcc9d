"""Fixtures: Tests/Support's clusters, Tests/Browser's browser; and what Tests/SIP has of telephones."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "Browser"), str(HERE.parent / "Support"), str(HERE.parent / "SIP" / "Support")]

from chromium import Browser  # noqa: E402
from fixtures import make_stack, people, pytest_pyfunc_call, stack  # noqa: E402, F401


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    browser = Browser()
    yield browser
    browser.close()
