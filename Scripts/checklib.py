"""What the checks of `Scripts/check` share: their command line, the files that git knows, the package as Swift sees it."""

import json
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# What the names of the result files of second attempts begin with.
SECOND = "second-attempt"


def run(check: Callable[[], list[str]], self_test: Callable[[], list[str]]) -> int:
    """The main function of a check; returns its exit status.

    Without arguments it runs `check`, with `--self-test` it runs `self_test`. Each returns what is wrong, line by line.
    """
    name = Path(sys.argv[0]).name
    if sys.argv[1:] not in ([], ["--self-test"]):
        print(f"usage: Scripts/{name} [--self-test]", file=sys.stderr)
        return 2
    found = self_test() if sys.argv[1:] else check()
    for line in found:
        print(f"{name}: {line}", file=sys.stderr)
    return 1 if found else 0


def misjudged(judge: Callable, good: list, bad: list) -> list[str]:
    """What a self-test reports: the samples of `bad` in which `judge` finds nothing, and those of `good` in which it does.

    A sample that is a tuple is the list of `judge`'s arguments.
    """
    def found(sample: object) -> list[str]:
        return judge(*sample) if isinstance(sample, tuple) else judge(sample)

    return [f"not noticed: {sample!r}" for sample in bad if not found(sample)] + [
        f"wrongly found: {text}" for sample in good for text in found(sample)]


def known_files(*folders: str) -> list[str]:
    """The files of the work tree that git tracks or would track, as paths from the root; only those in `folders`, if some are named."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *folders]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    return [name for name in names if (ROOT / name).is_file()]


def described_package() -> dict:
    """Package.swift as `swift package describe` explains it."""
    command = ["swift", "package", "--package-path", str(ROOT), "describe", "--type", "json"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


@contextmanager
def tree(files: dict[str, str]) -> Iterator[Path]:
    """A temporary folder with these files."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        yield root


def results(file: Path) -> Iterator[tuple[str, ElementTree.Element]]:
    """The tests of a runner's XML file: a pytest node id from the root or, for Swift, SUITE/NAME; and what the file says of it."""
    for case in ElementTree.parse(file).getroot().iter("testcase"):
        place, name = case.get("classname", ""), case.get("name", "")
        if place.startswith("Tests."):
            # A class is written with a capital, a module is not.
            modules = [part for part in place.split(".")[1:] if not part.startswith("Test")]
            classes = [part for part in place.split(".")[1:] if part.startswith("Test")]
            yield "::".join(["/".join(["Tests", *modules]) + ".py", *classes, name]), case
        else:
            yield f"{place.split('.')[-1]}/{name.split('(')[0].strip('`')}", case


def failed(case: ElementTree.Element) -> bool:
    return any(child.tag in ("failure", "error") for child in case)
