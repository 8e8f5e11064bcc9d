"""Fixtures: clusters and raw clients, which are in Tests/Support, so that other folders can import them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Support"))

from fixtures import make_stack, people, pytest_pyfunc_call, stack  # noqa: E402, F401
