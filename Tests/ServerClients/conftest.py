"""Fixtures of the tests of the clients for servers; a cluster where one is needed."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent / "Support"), str(ROOT / "Clients" / "server-python")]

from fixtures import make_stack, people, pytest_pyfunc_call, stack  # noqa: E402, F401
