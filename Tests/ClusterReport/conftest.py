"""What runs when: the short form of the points with `make test`, all of them with `make cluster-report`."""

import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent
sys.path[:0] = [
    str(HERE), str(TESTS / "Upgrade"), str(TESTS / "Faults"), str(TESTS / "Faults" / "Checker"), str(TESTS / "Support"),
    str(TESTS.parent / "Benchmarks")]

import fixtures  # noqa: E402
import sheet  # noqa: E402
from fixtures import make_stack, people, pytest_pyfunc_call, stack  # noqa: E402, F401

# Moving slots forth and back under load takes minutes.
fixtures.TEST_SECONDS = 900
IS_WHOLE = os.environ.get("HELIOGRAPH_CLUSTER_REPORT") == "all"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: runs with HELIOGRAPH_CLUSTER_REPORT=all (`make cluster-report`) only")
    config.addinivalue_line("markers", "short: a part of a long one, for `make test` only")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.option.keyword:
        return
    others = [item for item in items if item.get_closest_marker("short" if IS_WHOLE else "long")]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if item not in others]


@pytest.fixture(autouse=True)
def seeded() -> Iterator[None]:
    """The population's choices follow from the seed that the report shows."""
    random.seed(sheet.SEED)
    yield


def pytest_terminal_summary(terminalreporter) -> None:
    if sheet.rows:
        terminalreporter.section("cluster report")
        terminalreporter.write_line(sheet.write())
