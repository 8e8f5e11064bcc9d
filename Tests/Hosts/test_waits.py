"""The rule about users of healthy masters, on invented histories."""

import pytest
from waits import FEWEST, master_of, patience, percentile

APP = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa2"


def history(during: float, *, number: int = 2 * FEWEST, to: str = "bob") -> list[dict]:
    """Messages that took 20 ms before a fault, which lasts from 100 to 200, and `during` seconds within it."""
    def send(t: float, seconds: float) -> dict:
        return {"kind": "act", "act": "send", "who": "alice", "to": to, "t0": t, "asked": t, "t1": t + seconds, "ok": True}

    return [{"kind": "phase", "name": "load", "t": 0}, {"kind": "fault", "name": "cut", "t0": 100, "t1": 200},
            *[send(10 + n, 0.02) for n in range(number)], *[send(110 + n, during) for n in range(number)]]


@pytest.mark.parametrize("seconds, found", [(0.02, []), (0.27, []), (0.29, ["late"]), (5, ["late"])])
def test_waits_during_a_fault_are_compared_with_those_before(seconds: float, found: list[str]):
    assert [defect for defect, _ in patience(history(seconds), lambda account: True)] == found


def test_users_of_the_master_in_trouble_do_not_count():
    records = history(0.02) + [record for record in history(8, to="carol") if record["kind"] == "act"]
    assert not list(patience(records, lambda account: account != "carol"))
    assert [defect for defect, _ in patience(records, lambda account: True)] == ["late"]


def test_too_few_messages_are_no_proof():
    (defect, text), = patience(history(0.02, number=FEWEST - 1), lambda account: True)
    assert defect == "other" and "too few" in text


def test_users_are_spread_over_all_masters():
    found = [master_of(APP, f"user{number}") for number in range(300)]
    assert all(found.count(f"redis#{number}") > 60 for number in (1, 2, 3))


def test_percentiles():
    assert percentile([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) == 10
    assert percentile([3, 1, 2], 0.5) == 2
