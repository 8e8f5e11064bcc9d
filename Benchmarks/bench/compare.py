"""Compares this build of Heliograph with another one. They take turns, so that what else the machine does concerns both."""

import statistics
import subprocess
from pathlib import Path

from . import suite
from .heliograph import Heliograph
from .paths import ROOT, BenchError

TOLERANCE = 0.10
# Memory does not vary with what else the machine does.
TOLERANCES = {"rss_kib_per_connection": 0.03}


def compared() -> list[tuple[suite.Beside, tuple[str, ...]]]:
    """The scenarios, and the numbers of each of which lower is better."""
    return [
        (suite.f1(1000, 50), ("us_per_delivery",)),
        (suite.f1(100, 500), ("us_per_delivery",)),
        (suite.f1(5000, 10), ("us_per_delivery",)),
        (suite.p1(100, old=False), ("us_per_message",)),
        (suite.p1(100, old=True), ("us_per_message",)),
        (suite.c1(10_000), ("cpu_ms_per_login", "rss_kib_per_connection")),
        (suite.c1(10_000, known=True), ("cpu_ms_per_login",)),
    ]


def previous_release() -> Path:
    """The checkout, with programs, of the release that `Tests/Upgrade/previous-release` names."""
    done = subprocess.run(
        [ROOT / "Scripts" / "build-release", "previous"], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise BenchError("the previous release does not build")
    return Path(done.stdout.strip()).parent.parent


def regressions(other: Path, rounds: int, seconds: float) -> list[str]:
    """What costs more than it did in another checkout, by the median of the rounds' ratios.

    :param rounds: odd; in each, both builds run every scenario, the one that begins changes
    """
    found = []
    for scenario, fields in compared():
        ratios: dict[str, list[float]] = {field: [] for field in fields}
        for number in range(rounds):
            theirs, ours = _both(scenario, other, seconds, ours_first=number % 2 == 1)
            if not ours.get("whole", True):
                found.append(f"{scenario.key}: messages were lost, out of order or refused")
            for field in fields:
                ratios[field].append(ours[field] / theirs[field])
                print(f"{scenario.key}, {field}: {theirs[field]:.3f} -> {ours[field]:.3f}, {ratios[field][-1]:.2f} x", flush=True)
        for field, measured in ratios.items():
            ratio, bound = statistics.median(measured), 1 + TOLERANCES.get(field, TOLERANCE)
            print(f"{scenario.key}, {field}: median {ratio:.2f} x, at most {bound:.2f}", flush=True)
            if ratio > bound:
                found.append(f"{scenario.key}, {field}: {ratio:.2f} x that of the other build, at most {bound:.2f}")
    return found


def _both(scenario: suite.Beside, other: Path, seconds: float, *, ours_first: bool) -> tuple[dict, dict]:
    """What the other build and this one cost."""
    measured = {}
    for checkout in (ROOT, other) if ours_first else (other, ROOT):
        with Heliograph(checkout=checkout) as server:
            measured[checkout] = scenario.measure(server, seconds)
    return measured[other], measured[ROOT]
