"""`heliographctl retention`: for how long histories are kept."""

import json

import pytest
from stack_control import BINARIES, Stack, run_program
from waiting import eventually_blocking


def retention(stack: Stack, *arguments: str, code: int = 0) -> str:
    """What `heliographctl retention` prints; its error when it is to fail."""
    done = run_program(
        str(BINARIES / "heliographctl"), "retention", *arguments, HELIOGRAPH_POSTGRES_URL=stack.endpoints["postgres"]["url"])
    assert done.returncode == code, done.stdout + done.stderr
    return done.stderr if code else done.stdout


def kept(stack: Stack) -> dict[str, int | None]:
    return {one["name"]: one.get("keptDays") for one in json.loads(retention(stack, "show", "--json"))["histories"]}


def make_day(stack: Stack, day: str) -> str:
    """A day of attributes' history that has passed long ago, with a change; the table's name."""
    name = f"attribute_history_{day.replace('-', '_')}"
    stack.sql(
        f"CREATE TABLE {name} PARTITION OF attribute_history FOR VALUES FROM ('{day} 00:00 UTC') TO (timestamptz '{day} 00:00 UTC' + '1 day')")
    stack.sql(
        "INSERT INTO attribute_history (app, owner_kind, owner, name, change, version, changed_at) "
        f"VALUES ('a', 'user', 'u', 'n', 'deleted', 1, '{day} 12:00 UTC')")
    return name


def test_what_is_past_is_named_and_removed(make_stack):
    stack: Stack = make_stack(gateways=1)
    assert kept(stack) == {"attributes": 30, "audit": 400, "calls": None}
    # Without a service that removes it first.
    stack.kill("invitation#1")
    old, older = make_day(stack, "2020-02-02"), make_day(stack, "2020-01-01")
    planned = [line.split()[2] for line in retention(stack, "apply", "--dry-run").splitlines()]
    assert planned == [older, old]
    assert [one["name"] for one in json.loads(retention(stack, "apply", "--dry-run", "--json"))["toRemove"]] == planned
    assert stack.sql("SELECT count(*) FROM attribute_history") == [["2"]]
    assert [line.split()[:2] for line in retention(stack, "apply").splitlines()] == [["removed", older], ["removed", old]]
    assert stack.sql("SELECT count(*) FROM attribute_history") == [["0"]]
    assert retention(stack, "apply") == "nothing to remove\n"
    # The service does it too, and makes the days to come.
    make_day(stack, "2020-01-01")
    stack.sql("SELECT drop_history_day(name) FROM history_parts WHERE history = 'attributes' AND since > now()")
    stack.start("invitation#1")
    eventually_blocking(
        lambda: stack.sql("SELECT count(*), min(since) > now() - interval '1 day' FROM history_parts "
                          "WHERE history = 'attributes' AND since IS NOT NULL") == [["3", "t"]], "the service tends the days", 30)
    # Settings.
    assert retention(stack, "set", "attributes", "2w").startswith("attributes  kept for 14 days  by day  4 tables  ")
    assert retention(stack, "set", "calls", "400d").startswith("calls  kept for 400 days  by month  ")
    assert kept(stack) == {"attributes": 14, "audit": 400, "calls": 400}
    assert "not written" in retention(stack, "set", "attributes", "off")
    assert retention(stack, "set", "calls", "default").startswith("calls  kept as HELIOGRAPH_CALLS_KEPT_DAYS says")
    retention(stack, "set", "attributes", "default")
    assert kept(stack) == {"attributes": 30, "audit": 400, "calls": None}


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        (("attributes", "0d"), 64, "must be 1d...36500d (days), 1w...5214w (weeks) or 1y...100y (years)"),
        (("attributes", "soon"), 64, "must be 1d...36500d"),
        (("calls", "off"), 1, "calls are always written: give a time span, or `default`"),
        (("messages", "3d"), 1, "there is no history messages: there are attributes, audit and calls"),
    ])
def test_a_setting_that_makes_no_sense_is_refused(stack: Stack, arguments: tuple[str, str], code: int, reason: str):
    before = kept(stack)
    assert reason in retention(stack, "set", *arguments, code=code)
    assert kept(stack) == before
