"""Fixtures: Tests/Support's clusters, the browser of Tests/Browser, and the tones of Tests/Media."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "Support"), str(HERE.parent / "Browser"), str(HERE.parents[1] / "Scripts"),
                str(HERE.parent / "Media" / "Support")]

from fixtures import make_stack, people, pytest_pyfunc_call, stack  # noqa: E402, F401
