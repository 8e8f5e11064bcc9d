"""What runs when: the short form with `make test`, everything with `make faults`."""

import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "Checker"), str(HERE.parent / "Support")]

import fixtures  # noqa: E402
import report  # noqa: E402
from fixtures import make_stack, people, pytest_pyfunc_call, stack  # noqa: E402, F401

# A breakage under load takes a minute or two.
fixtures.TEST_SECONDS = 900


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: runs with HELIOGRAPH_FAULTS=all (`make faults`) only")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if os.environ.get("HELIOGRAPH_FAULTS") == "all" or config.option.keyword:
        return
    long = [item for item in items if item.get_closest_marker("long")]
    config.hook.pytest_deselected(items=long)
    items[:] = [item for item in items if item not in long]


def pytest_terminal_summary(terminalreporter) -> None:
    for title, lines in report.shown.items():
        terminalreporter.section(title)
        for text in lines:
            terminalreporter.write_line(text)
