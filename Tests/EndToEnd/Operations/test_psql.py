"""The queries of Docs/psql.md, on a cluster in which something happens; and a login that may only read."""

import asyncio
import json
import re

import pytest
from acts import ring
from stack_control import BINARIES, ROOT, Stack, run_program, unique
from waiting import eventually, eventually_blocking

PAGE = ROOT / "Docs" / "psql.md"
CALL_COLUMNS = (
    "app, id, channel, caller, callee, kind, direction, started_at, acknowledged_at, accepted_at, ended_at, end_code, sip_status, sip_reason")
READER = "SET ROLE heliograph_reader; "


def queries() -> list[str]:
    """The statements of the page's SQL blocks."""
    blocks = re.findall(r"^```sql\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    return [statement.strip() for block in blocks for statement in block.split(";\n") if statement.strip()]


async def populate(stack: Stack, people) -> dict[str, str]:
    """Users, a channel, attributes, calls and mail; what the page's queries name by a placeholder."""
    app = stack.create_app(unique("psql").replace("-", ""))
    room = unique("room")
    stack.control("trunk", "set", app.id, "127.0.0.1:5099", "--allow=any")
    async with people(stack) as cast:
        alice, bob, carol = await cast.login("alice", "bob", "carol", app=app)
        for member in (alice, bob):
            await member.join(room)
        for value in ("tea", "coffee"):
            await alice.call("channel_set_attr", channel=room, name="topic", value=value)
            await alice.call("user_set_attr", name="mood", value=value)
        await ring(alice, bob, unique("call"))
        await carol.logout()
        for number in range(3):
            await alice.tell(carol.account, f"message {number} that waits")
        times = "now() - interval '1 hour', now() - interval '1 hour'"
        for call, ends in (("talked", "now() - interval '59 minutes', now(), 0, 200, 'OK'"), ("busy", "NULL, now(), 702, 486, 'Busy Here'")):
            stack.sql(
                f"INSERT INTO calls ({CALL_COLUMNS}) VALUES ('{app.id}', '{call}', '{room}', '{alice.account}', '+4930', 'phone', 'outbound', "
                f"{times}, {ends})")
        # A channel with attributes that nobody is in.
        stack.sql(f"INSERT INTO channel_attribute_versions (app, channel, version, attributes) VALUES ('{app.id}', 'empty', 1, 1)")
        stack.sql(f"UPDATE users SET last_seen = now() - interval '60 days' WHERE app = '{app.id}' AND account = '{carol.account}'")
        await eventually(
            lambda: stack.sql(f"SELECT members FROM channels WHERE app = '{app.id}' AND channel = '{room}'") == [["2"]], "the mirrors follow")
        await eventually(lambda: stack.sql(f"SELECT 1 FROM call_log WHERE app = '{app.id}' AND state = 'ringing'"), "the call is logged")
        gateway = stack.sql(f"SELECT gateway FROM online_users WHERE app = '{app.id}'")[0][0]
        found = {"APP": app.id, "ACCOUNT": alice.account, "CHANNEL": room, "NAME": "topic", "GATEWAY": gateway}
        usage = "users, users_online, channels, members, calls_last_day"
        await eventually(
            lambda: stack.sql(f"SELECT {usage} FROM app_usage WHERE app = '{app.id}'") == [["3", "2", "1", "2", "3"]], "the numbers follow")
        # In a thread, so that clients go on to answer pings.
        await asyncio.to_thread(look, stack, found, carol.account)
        for member in (alice, bob):
            await member.logout()
    return found


def look(stack: Stack, names: dict[str, str], absent: str) -> None:
    """Asks what the page asks, and compares what is kept with what happened."""
    stack.control("waiting", "--record")
    answers(stack, names)
    app, account = names["APP"], names["ACCOUNT"]
    assert stack.sql(f"SELECT sum(logins) FROM logins_by_day WHERE app = '{app}'") == [["3"]]
    assert stack.sql(f"SELECT messages FROM waiting_mail WHERE app = '{app}' AND account = '{absent}'") == [["3"]]
    history = f"SELECT owner_kind, change, value, changed_by FROM attribute_history WHERE app = '{app}' ORDER BY changed_at, owner_kind"
    assert stack.sql(history) == [[kind, "set", value, account] for value in ("tea", "coffee") for kind in ("channel", "user")]
    # Less than the second that the page promises, on a machine that does much else.
    assert stack.sql("SELECT mirror FROM mirror_lag WHERE lag < interval '10 seconds' ORDER BY 1") == [["members"], ["sessions"]]


def answers(stack: Stack, names: dict[str, str]) -> None:
    """Runs each query as the read-only role: each must find something."""
    for query in queries():
        for placeholder, name in names.items():
            query = query.replace(f"'{placeholder}'", f"'{name}'")
        assert stack.sql(READER + query), f"finds nothing: {query}"


async def test_each_query_of_the_page_finds_what_happened(stack: Stack, people):
    assert len(queries()) >= 25
    names = await populate(stack, people)
    # When everybody has left, nobody is counted as present any more.
    eventually_blocking(
        lambda: stack.sql(f"SELECT users_online, channels, members FROM app_usage WHERE app = '{names['APP']}'") == [["0", "0", "0"]],
        "nobody is present", 60)
    stack.control("app", "remove", names["APP"])
    for table in ("app_logins", "app_users", "attribute_history", "waiting_mail", "app_days", "gateway_days"):
        assert stack.sql(f"SELECT count(*) FROM {table} WHERE app = '{names['APP']}'") == [["0"]], table


@pytest.mark.parametrize("secret", ["SELECT certificate FROM apps", "SELECT secret FROM sip_trunks", "UPDATE retention SET days = 1"])
def test_the_read_only_role_sees_no_secrets_and_changes_nothing(stack: Stack, secret: str):
    with pytest.raises(AssertionError, match="permission denied"):
        stack.sql(READER + secret)


@pytest.mark.parametrize(("bound", "code"), [("60000", 0), ("0", 1)])
def test_the_benchmark_asks_every_view_and_judges_by_its_bound(stack: Stack, bound: str, code: int):
    """With few rows, so that its times say nothing; `make bench-psql` is the measurement."""
    name = unique("bench").replace("-", "_")
    url = f"{stack.endpoints['postgres']['url'].rpartition('/')[0]}/{name}"
    stack.sql(f"CREATE DATABASE {name}")
    try:
        migrated = run_program(str(BINARIES / "heliographctl"), "migrate", HELIOGRAPH_POSTGRES_URL=url)
        assert migrated.returncode == 0, migrated.stderr
        size = ("--users", "2000", "--channels", "200", "--calls", "2000")
        done = run_program("Benchmarks/run", "psql", *size, "--bound", bound, HELIOGRAPH_BENCH_POSTGRES=url)
    finally:
        stack.sql(f"DROP DATABASE {name}")
    assert done.returncode == code, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    views = {row[0] for row in stack.sql("SELECT viewname FROM pg_views WHERE schemaname = 'public'")}
    assert {asked.partition(":")[0] for asked in result["ms"]} == views | {"Docs/psql.md"}
    # Two queries of each view at least: its beginning, and what is asked of it.
    assert len(result["ms"]) >= 2 * len(views) + len(queries())
    assert done.stderr.count(f"not under {bound}") == (len(result["ms"]) if code else 0)
