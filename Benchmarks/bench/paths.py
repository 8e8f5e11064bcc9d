"""The folders of the benchmarks, and the programs of the machine."""

import shutil
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parents[1]
ROOT = BENCHMARKS.parent
WORK = BENCHMARKS / ".build"
TOOLS = WORK / "tools"


class BenchError(Exception):
    """Something a person can act on; the text is the whole message."""


def tool(name: str) -> str:
    """The path of an installed program."""
    found = shutil.which(name, path="/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/sbin")
    if not found:
        raise BenchError(f"{name} is not installed (run Scripts/install-bench-dependencies)")
    return found
