"""What `make bench-check` says of planted numbers: as much noise as rounds on a busy machine have, and changes of known sizes."""

import random

import pytest
from bench import compare, suite

TRIALS = 400
ROUNDS, MOST = 5, compare.MOST_ROUNDS
SCENARIO = suite.p1(100, old=False)
FIELD = "us_per_message"


def planted(change: float, noise: float, chance: random.Random) -> compare.Measure:
    """Both builds' results: ours costs `change` times as much, and each has noise of its own besides what both have in a round."""
    def measure(_: suite.Beside, ours_first: bool) -> tuple[dict, dict]:
        both = 40 * chance.lognormvariate(0, 0.15)
        # Noise of a ratio is that of its two parts.
        own = [chance.lognormvariate(0, noise / 2**0.5) for _ in range(2)]
        return {FIELD: both * own[0]}, {FIELD: both * own[1] * change, "whole": True}
    return measure


def share_found(change: float, noise: float, most: int = MOST) -> float:
    chance = random.Random(20261128)
    found = [compare.worse(SCENARIO, (FIELD,), ROUNDS, most, planted(change, noise, chance)) for _ in range(TRIALS)]
    return sum(map(bool, found)) / TRIALS


# The shares that Benchmarks/README.md states.
@pytest.mark.parametrize(("noise", "change", "least", "highest"), [
    (0.03, 1.10, 0.99, 1), (0.05, 1.10, 0.98, 1), (0.08, 1.10, 0.93, 1),
    (0.03, 1.00, 0, 0.01), (0.05, 1.00, 0, 0.02), (0.08, 1.00, 0, 0.06),
    (0.03, 1.07, 0.93, 1),
])
def test_a_tenth_is_seen_and_noise_is_not(noise, change, least, highest):
    assert least <= share_found(change, noise) <= highest


def test_rounds_are_added_only_while_it_is_open():
    asked = []

    def ratios(values: list[float]) -> compare.Measure:
        left = list(values)

        def measure(_: suite.Beside, ours_first: bool) -> tuple[dict, dict]:
            asked.append(ours_first)
            return {FIELD: 10}, {FIELD: 10 * left.pop(0)}
        return measure

    assert not compare.worse(SCENARIO, (FIELD,), 5, 9, ratios([1.0] * 5))
    assert asked == [False, True, False, True, False]
    asked.clear()
    assert compare.worse(SCENARIO, (FIELD,), 5, 9, ratios([1.0, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1]))
    assert len(asked) == 9
    asked.clear()
    # What is open to the end is judged by the median.
    assert not compare.worse(SCENARIO, (FIELD,), 5, 7, ratios([1.0, 1.1, 1.0, 1.1, 1.0, 1.1, 1.0]))
    assert len(asked) == 7


def test_what_is_worse_is_named_and_the_rest_is_not(capsys):
    def measure(_: suite.Beside, ours_first: bool) -> tuple[dict, dict]:
        return ({"cpu_ms_per_login": 0.5, "rss_kib_per_connection": 5.0},
                {"cpu_ms_per_login": 0.51, "rss_kib_per_connection": 5.2, "whole": True})

    scenario = suite.c1(10_000)
    assert compare.worse(scenario, ("cpu_ms_per_login", "rss_kib_per_connection"), 5, 15, measure) == [
        f"{scenario.key}, rss_kib_per_connection: 1.04 x that of the other build, at most 1.03"]
    assert "cpu_ms_per_login: median of 5 1.02 x (1.02 to 1.02), at most 1.05" in capsys.readouterr().out


def test_lost_messages_are_worse():
    def measure(_: suite.Beside, ours_first: bool) -> tuple[dict, dict]:
        return {FIELD: 10}, {FIELD: 10, "whole": False}

    assert compare.worse(SCENARIO, (FIELD,), 1, 1, measure) == ["P1: messages were lost, out of order or refused"]


def test_logins_of_known_users_are_compared():
    assert any(scenario.key.endswith(" known") and "cpu_ms_per_login" in fields for scenario, fields in compare.compared())
