"""What runs when: a few scenes with `make test`, all with `make hosts`; on a machine that allows no hosts, only what needs none."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
FAULTS = HERE.parent / "Faults"
sys.path[:0] = [str(HERE), str(FAULTS), str(FAULTS / "Checker"), str(HERE.parent / "Support")]

import fixtures  # noqa: E402
import report  # noqa: E402
from fixtures import make_stack, pytest_pyfunc_call  # noqa: E402, F401
from stack_control import ROOT  # noqa: E402

# A scene under load takes a minute or two.
fixtures.TEST_SECONDS = 900

_check = subprocess.run([str(ROOT / "Scripts" / "stack"), "check-hosts"], capture_output=True, text=True, check=False)
# These need no hosts.
collect_ignore_glob = [] if _check.returncode == 0 else [
    path.name for path in HERE.glob("test_*.py") if path.name not in ("test_check.py", "test_waits.py")]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: runs with HELIOGRAPH_HOSTS=all (`make hosts`) only")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if os.environ.get("HELIOGRAPH_HOSTS") == "all" or config.option.keyword:
        return
    long = [item for item in items if item.get_closest_marker("long")]
    config.hook.pytest_deselected(items=long)
    items[:] = [item for item in items if item not in long]


def pytest_terminal_summary(terminalreporter) -> None:
    if collect_ignore_glob:
        terminalreporter.write_line(f"not collected: {', '.join(sorted(collect_ignore_glob))}: {_check.stderr.strip()}")
    for title, lines in report.shown.items():
        terminalreporter.section(title)
        for text in lines:
            terminalreporter.write_line(text)
