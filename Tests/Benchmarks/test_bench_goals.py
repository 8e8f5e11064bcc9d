"""What the goals make of runs, and the table of several builds."""

import pytest
from bench import builds, goals


def goal(runs: dict, words: str) -> goals.Goal:
    return next(found for found in goals.goals(runs) if words in found.text)


def runs(key: str, **by_server: dict) -> dict:
    return {key: {server: [numbers] for server, numbers in by_server.items()}}


def test_the_best_other_server_is_the_one_that_costs_least():
    measured = runs(
        "F1 100x500", limit={"us_per_delivery": 4}, heliograph={"us_per_delivery": 6}, redis={"us_per_delivery": 8},
        nats={"us_per_delivery": 5})
    found = goal(measured, "best other server")
    assert found.value == 1.2 and "nats 5.00 us" in found.shown
    assert goal(runs("F1 100x500", limit={"us_per_delivery": 4}), "best other server").value is None


def test_the_dearest_cluster_is_compared_with_a_single_redis():
    messages = {layout: {"us": cost} for layout, cost in {"single": 20, "1": 22, "3": 30, "6": 25}.items()}
    found = goal(runs("scaling", heliograph={"messages": messages}), "on a cluster")
    assert found.value == 1.5 and found.bound == 1.3


def test_a_storm_of_fewer_has_less_time():
    found = goal(runs("storm kill 10000", heliograph={"resume_seconds": 6, "p99_us": 30_000}), "until 10,000 are back")
    assert found.value == 2, "6 s, of which 10,000 may take 3"
    assert goal(runs("storm kill 10000", heliograph={"resume_seconds": 6, "p99_us": 30_000}), "of 10,000").value == 0.5
    assert not [one for one in goals.goals({}) if "20,000" in one.text]


def test_builds_are_compared_with_the_first_one():
    found = {"P1 us_per_message": {"limit": [5, 6, 7], "a/old": [40, 50, 45], "b/new": [30, 36, 40]}}
    assert builds.table(found)[2] == "| P1 us_per_message | 6 | 45 (1.00) | 36 (0.80) |"
    assert builds.table(found)[0] == "| | limit | a/old | b/new |"
    # Clients that poll have no limit to be compared with.
    assert builds.table({"P1-old us_per_message": {"a": [1]}})[2] == "| P1-old us_per_message |  | 1 (1.00) |"
    # A process that one of them does not have.
    found |= {"P1 us_per_message: webhooks": {"b/new": [3]}}
    assert builds.table(found)[3] == "| P1 us_per_message: webhooks |  |  | 3 |"


def test_builds_are_compared_by_process():
    result = {"cpu_ms_per_login": 0.6, "cpu_by_process": {"redis": 4, "gateway": 2}, "rss_kib_per_connection": 4, "idle_percent": 0}
    assert builds.shares(result, "cpu_ms_per_login") == pytest.approx({"redis": 0.4, "gateway": 0.2})
    assert builds.shares(result, "rss_kib_per_connection") == builds.shares(result, "idle_percent") == {}
