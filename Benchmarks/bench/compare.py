"""Compares this build of Heliograph with another one. They take turns, so that what else the machine does concerns both."""

import statistics
import subprocess
from collections.abc import Callable
from math import comb
from pathlib import Path

from . import suite
from .heliograph import Heliograph
from .paths import ROOT, BenchError

# Half of what must be seen: with this bound, a build that costs a tenth more is as far from it as one that costs the same.
TOLERANCE = 0.05
# Memory does not vary with what else the machine does.
TOLERANCES = {"rss_kib_per_connection": 0.03}
# How sure a verdict is before the last round: the share of the time that the true median is between the ratios that decide.
SURE = 0.93
MOST_ROUNDS = 15


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


def outermost(count: int) -> int:
    """How many of so many ratios, at either end, are no part of the interval that has the median as surely as `SURE`.

    It holds for noise of every kind: the true median is above the k lowest of n ratios unless k of n tosses of a coin or fewer fall one way.
    """
    left_out = 0
    for number in range(count // 2):
        if 1 - 2 * sum(comb(count, k) for k in range(number + 1)) / 2**count >= SURE:
            left_out = number
    return left_out


def verdict(ratios: list[float], bound: float, *, is_last: bool) -> bool | None:
    """Whether these ratios of rounds say that this build is worse; None when more rounds are needed, never after the last one."""
    ordered, left_out = sorted(ratios), outermost(len(ratios))
    if ordered[left_out] > bound:
        return True
    if ordered[-1 - left_out] <= bound:
        return False
    return statistics.median(ratios) > bound if is_last else None


# Measures a scenario with both builds: the other one's result, and this one's.
Measure = Callable[[suite.Beside, bool], tuple[dict, dict]]


def regressions(other: Path, rounds: int, most: int, seconds: float) -> list[str]:
    """What costs more than it did in another checkout.

    :param rounds: odd; in each, both builds run every scenario, the one that begins changes
    :param most: odd; as many rounds where fewer leave it open
    """
    def measure(scenario: suite.Beside, ours_first: bool) -> tuple[dict, dict]:
        return _both(scenario, other, seconds, ours_first=ours_first)

    return [text for scenario, fields in compared() for text in worse(scenario, fields, rounds, most, measure)]


def worse(scenario: suite.Beside, fields: tuple[str, ...], rounds: int, most: int, measure: Measure) -> list[str]:
    """In what this build costs more than the other one, by the ratios of rounds."""
    found = []
    ratios: dict[str, list[float]] = {field: [] for field in fields}
    bounds = {field: 1 + TOLERANCES.get(field, TOLERANCE) for field in fields}
    number, verdicts = 0, {}
    while number < rounds or (None in verdicts.values() and number < most):
        # Two at a time after the first ones: the build that begins has an advantage, or a disadvantage.
        for _ in range(1 if number < rounds else 2):
            theirs, ours = measure(scenario, number % 2 == 1)
            number += 1
            if not ours.get("whole", True):
                found.append(f"{scenario.key}: messages were lost, out of order or refused")
            for field in fields:
                ratios[field].append(ours[field] / theirs[field])
                print(f"{scenario.key}, {field}: {theirs[field]:.3f} -> {ours[field]:.3f}, {ratios[field][-1]:.2f} x", flush=True)
        verdicts = {field: verdict(ratios[field], bounds[field], is_last=number >= most) for field in fields}
    for field in fields:
        ratio, bound = statistics.median(ratios[field]), bounds[field]
        least, *_, highest = sorted([*ratios[field], ratio])
        print(f"{scenario.key}, {field}: median of {number} {ratio:.2f} x ({least:.2f} to {highest:.2f}), at most {bound:.2f}", flush=True)
        if verdicts[field]:
            found.append(f"{scenario.key}, {field}: {ratio:.2f} x that of the other build, at most {bound:.2f}")
    return found


def _both(scenario: suite.Beside, other: Path, seconds: float, *, ours_first: bool) -> tuple[dict, dict]:
    """What the other build and this one cost."""
    measured = {}
    for checkout in (ROOT, other) if ours_first else (other, ROOT):
        with Heliograph(checkout=checkout) as server:
            measured[checkout] = scenario.measure(server, seconds)
    return measured[other], measured[ROOT]
