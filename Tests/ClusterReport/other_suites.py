"""What other suites say of a point, for the report: they run as processes of their own, and are read by what they print and write."""

import re
from dataclasses import dataclass
from xml.etree import ElementTree

from report import COLUMNS

DURABILITY = re.compile(r"^durability: (\d+) kills, (\d+) acknowledged, (\d+) lost; (\d+) lost without$", re.MULTILINE)


@dataclass(frozen=True)
class Durability:
    """What RedisDurabilityFailoverTests has seen when masters were killed."""

    kills: int
    acknowledged: int
    lost: int
    """Of the acknowledged numbers, those that the replica does not have."""
    lost_without: int
    """The same of one more kill, in which no replica was waited for."""


def durability(output: str) -> Durability | None:
    """What the suite has printed, if it came to its end."""
    found = DURABILITY.search(output)
    return Durability(*map(int, found.groups())) if found else None


@dataclass(frozen=True)
class SceneResult:
    """One scene of Tests/Hosts."""

    name: str
    failures: list[str]
    """What is wrong, in a line each."""
    acknowledged: int | None
    """Messages; None if the scene was not judged."""


def scenes(results: str, table: str) -> list[SceneResult]:
    """The scenes of a run.

    :param results: pytest's, as JUnit's XML
    :param table: the suite's own, `scenes.txt`
    """
    rows = {}
    for line in filter(str.strip, table.splitlines()):
        # A name has spaces; the numbers, and the seed at the end, have none.
        name, *values = line.rsplit(maxsplit=len(COLUMNS) + 1)
        if len(values) == len(COLUMNS) + 1 and values[0].isdigit():
            rows[name] = dict(zip(COLUMNS, values, strict=False))
    found = []
    for case in ElementTree.fromstring(results).iter("testcase"):
        name = case.get("name", "").removeprefix("test_scene[").removesuffix("]")
        failures = [
            (failed.get("message") or failed.tag).splitlines()[0] for failed in case if failed.tag in ("failure", "error", "skipped")]
        found.append(SceneResult(name, failures, int(rows[name]["acknowledged"]) if name in rows else None))
    return found
