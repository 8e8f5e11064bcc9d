"""Runs the command lines of a document, so that what a test shows is what operators are told to do."""

import os
import re
import subprocess
from pathlib import Path

from stack_control import BINARIES, ROOT, clean_environment

# Moving a quarter of all slots takes some seconds, on a busy machine many.
STEP_SECONDS = 120


class PageCommands:
    """The commands below a heading of a page, one after the other.

        with PageCommands("Docs/scaling.md", "More masters", environment) as steps:
            steps.run("add-node", {"NEW:6379": "127.0.0.1:21007", "ANY:6379": "127.0.0.1:21001"})

    Each call takes the next command of the section, which must have the given words, and puts values in the place of the page's own
    names. The section must be over at the end: a page that gets another step fails the tests that do not take it.
    """

    def __init__(self, page: str, heading: str, environment: dict[str, str] | None = None):
        self._place = f"{page}, {heading}"
        self._left = section(page, heading)
        self._environment = clean_environment(**environment or {}) | {"PATH": f"{BINARIES}:{os.environ['PATH']}:{postgres_programs()}"}

    def __enter__(self) -> "PageCommands":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        assert kind is not None or not self._left, f"{self._place}: nobody ran {self._left}"

    def take(self, words: str) -> str:
        """The next command, with the page's names."""
        assert self._left, f"{self._place}: no command is left for {words!r}"
        command = self._left.pop(0)
        assert words in command, f"{self._place}: the next command is {command!r}, without {words!r}"
        return command

    def run(self, words: str, names: dict[str, str] | None = None, *, user: list[str] | None = None, more: str = "") -> str:
        """Runs the next command to its end; its output.

        - user: a prefix that runs programs as another user.
        - more: options that the page does not have.
        """
        return self.run_now(f"{self.take(words)} {more}".rstrip(), names or {}, user=user)

    def run_now(self, command: str, names: dict[str, str], *, user: list[str] | None = None) -> str:
        """Runs a command that was taken, on one of the servers that it is for."""
        command = with_values(command, names)
        done = subprocess.run(
            [*(user or []), "bash", "-c", command], cwd="/", env=self._environment, capture_output=True, text=True, timeout=STEP_SECONDS,
            check=False)
        assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        return done.stdout

    def start(self, command: str, folder: Path, log: Path, user: list[str] | None = None) -> subprocess.Popen:
        """Starts a server in a folder of its own."""
        with log.open("wb") as output:
            return subprocess.Popen(
                [*(user or []), "bash", "-c", f"exec {command}"], cwd=folder, env=self._environment, stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, start_new_session=True)


def with_values(command: str, names: dict[str, str]) -> str:
    """A command with values in the place of a page's names."""
    missing = [name for name in names if name not in command]
    assert not missing, f"{command!r} does not name {missing}"
    # The longest first: REPLICAID has ID within.
    pattern = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.sub(pattern, lambda match: names[match[0]], command) if names else command


def section(page: str, heading: str) -> list[str]:
    """The command lines below a heading, up to the next one, without their comments."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"{page} has no heading {heading!r}"
    lines = [re.sub(r"\s+#\s.*", "", line).strip() for line in re.findall(r"^ {4,}(\S.*)$", found[1], re.MULTILINE)]
    # A line that ends with a backslash goes on.
    return "\n".join(lines).replace("\\\n", "").splitlines()


def postgres_programs() -> str:
    """The folder of PostgreSQL's servers' programs, which Debian keeps off the PATH."""
    return str(max(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name)))
