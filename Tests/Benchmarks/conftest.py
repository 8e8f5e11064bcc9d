"""The Python parts of the benchmarks, without measuring: what they decide, keep and print."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "Support"), str(HERE.parents[1] / "Benchmarks")]
