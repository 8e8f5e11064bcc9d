"""The fixtures are in fixtures.py, so that other folders can import them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from fixtures import make_stack, people, pytest_pyfunc_call, stack  # noqa: E402, F401
