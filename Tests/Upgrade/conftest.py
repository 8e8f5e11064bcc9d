"""What runs when: a rolling restart with `make test`, all upgrades with `make upgrade`."""

import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
FAULTS = HERE.parent / "Faults"
sys.path[:0] = [str(HERE), str(FAULTS), str(FAULTS / "Checker"), str(HERE.parent / "ClusterReport"), str(HERE.parent / "Support")]

import fixtures  # noqa: E402
import report  # noqa: E402
from fixtures import make_stack, people, pytest_pyfunc_call  # noqa: E402, F401

# An upgrade and the way back, under load, take a few minutes.
fixtures.TEST_SECONDS = 900


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: runs with HELIOGRAPH_UPGRADE=all (`make upgrade`) only")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if os.environ.get("HELIOGRAPH_UPGRADE") == "all":
        return
    long = [item for item in items if item.get_closest_marker("long")]
    config.hook.pytest_deselected(items=long)
    items[:] = [item for item in items if item not in long]


def pytest_terminal_summary(terminalreporter) -> None:
    for title, lines in report.shown.items():
        terminalreporter.section(title)
        for text in lines:
            terminalreporter.write_line(text)
