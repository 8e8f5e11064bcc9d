"""Installed programs: where they are, and how they are run to their end."""

import os
import shutil
import subprocess

from .errors import StackError

RUN_SECONDS = 60


def tool(name: str) -> str:
    """The path of an installed program."""
    found = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
    if not found:
        raise StackError(f"{name} is not installed (run Scripts/install-dependencies)")
    return found


def run(command: list[str], seconds: float = RUN_SECONDS, **variables: str) -> str:
    """Runs a command, with these variables in its environment; its output. Raises when it fails or takes longer."""
    name = os.path.basename(command[0])
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd="/", env=os.environ | variables, timeout=seconds,
            check=False)
    except subprocess.TimeoutExpired:
        raise StackError(f"{name} took more than {seconds:.0f} s") from None
    if done.returncode != 0:
        raise StackError(f"{name} failed: {(done.stderr or done.stdout).strip()}")
    return done.stdout
