"""What the tests of the container files share."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "Support")]

import fixtures  # noqa: E402
from fixtures import pytest_pyfunc_call  # noqa: E402, F401

# Containers take seconds to start and to stop.
fixtures.TEST_SECONDS = 600
