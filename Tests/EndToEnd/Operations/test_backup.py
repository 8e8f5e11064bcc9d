"""`heliographctl backup` and `restore`: what comes back, and what is refused."""

import asyncio
import json
import os
import subprocess
from pathlib import Path

import pytest
from apps import App
from stack_control import BINARIES, Stack, run_program, unique
from waiting import eventually, eventually_blocking

SECRET = "trunk-secret-123456"


def ctl(stack: Stack, *arguments: str, code: int = 0, **variables: str) -> str:
    """What heliographctl prints; its error when it is to fail."""
    found = stack.endpoints
    done = run_program(
        str(BINARIES / "heliographctl"), *arguments, HELIOGRAPH_POSTGRES_URL=found["postgres"]["url"],
        HELIOGRAPH_REDIS_URL=found["redis"]["url"], **variables)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stderr if code else done.stdout


def stop_processes(stack: Stack) -> None:
    """Ends gateways and services, and waits until they do not count as running any more."""
    for member in stack.endpoints["gateways"] + stack.endpoints["services"]:
        stack.drain(member["name"])
    eventually_blocking(lambda: not json.loads(stack.control("versions", "--json"))["instances"], "all processes have ended", 40)


def start_processes(stack: Stack) -> None:
    for member in stack.endpoints["services"] + stack.endpoints["gateways"]:
        stack.start(member["name"])


def durable(stack: Stack, app: App) -> dict[str, object]:
    """What must be the same after a restore."""
    return {
        "app": json.loads(stack.control("app", "list", "--show-certificates", "--json"))["apps"],
        "trunk": json.loads(stack.control("trunk", "show", app.id, "--show-secret", "--json")) | {"updatedAt": 0},
        "numbers": stack.sql("SELECT number, app, account FROM sip_numbers ORDER BY 1"),
        "users": stack.sql("SELECT app, account, uid FROM users ORDER BY 3"),
        "attributes": stack.sql("SELECT * FROM user_attributes ORDER BY 1, 2") + stack.sql("SELECT * FROM channel_attributes ORDER BY 1, 2"),
        "history": stack.sql("SELECT * FROM attribute_history ORDER BY changed_at"),
        "calls": stack.sql("SELECT id, caller, callee FROM calls ORDER BY 1"),
        "waiting": json.loads(stack.control("waiting", "--json"))["users"],
        "logins": stack.sql("SELECT * FROM logins_by_day"),
    }


@pytest.mark.single_redis("stops and empties one Redis by its commands; the mailboxes' way is the same on all flavours")
async def test_a_restored_cluster_has_what_was_saved(make_stack, people, tmp_path: Path):
    stack: Stack = make_stack(gateways=1)
    app = stack.create_app("saved")
    stack.control("trunk", "set", "saved", "127.0.0.1:5099", "--user=u", f"--secret={SECRET}", "--allow=+49")
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob", app=app)
        await alice.join("room")
        stack.control("number", "set", "+4930", "--app=saved", f"--account={alice.account}")
        await alice.call("channel_set_attr", channel="room", name="topic", value="tea")
        await alice.call("user_set_attr", name="mood", value="calm")
        uid = stack.sql(f"SELECT uid FROM users WHERE account = '{bob.account}'")
        await bob.logout()
        texts = [f"waits for you, {number}\n\"quoted\" {'x' * number * 100}" for number in range(20)]
        for text in texts:
            await alice.tell(bob.account, text)
        await eventually(lambda: stack.sql("SELECT 1 FROM channels WHERE channel = 'room' AND members = 1"), "the mirror follows")
        await eventually(lambda: stack.sql("SELECT logins FROM logins_by_day") == [["2"]], "both logins are counted")

        saved = tmp_path / "saved"
        # In a thread, so that clients go on to answer pings.
        before, report = await asyncio.to_thread(saved_while_it_runs, stack, app, saved)
        assert before["waiting"] == [{"account": bob.account, "appId": "saved", "messages": 20}]
        await alice.logout()
    stop_processes(stack)
    # What came after the backup goes.
    stack.control("app", "create", "--id=later", "--open")
    refusals(stack, saved, tmp_path)
    restored = json.loads(ctl(stack, "restore", str(saved), "--replace", "--as-of-backup", "--json"))
    assert {name: restored[name] for name in ("applied", "mailboxes", "migration")} == {
        "applied": [], "mailboxes": 1, "migration": report["migration"]}
    after = durable(stack, app)
    after["trunk"] |= {"updatedAt": 0}
    assert after == before
    assert stack.sql("SELECT count(*) FROM online_users") == [["0"]]
    assert stack.sql("SELECT channel, members, attributes FROM channels") == [["room", "0", "1"]]

    start_processes(stack)
    async with people(stack) as cast:
        bob = cast.exactly(bob.account, app)
        await bob.login(stack.gateways[0])
        await eventually(lambda: bob.texts() == texts, "what waited arrives, once and in order")
        assert stack.sql(f"SELECT uid FROM users WHERE account = '{bob.account}'") == uid
        newcomer = cast.make("newcomer", app)
        await newcomer.login(stack.gateways[0])
        assert [[str(max(int(row[0]) for row in stack.sql("SELECT uid FROM users")))]] == stack.sql(
            f"SELECT uid FROM users WHERE account = '{newcomer.account}'")
        await newcomer.tell(bob.account, "a message after the restore")
        await eventually(lambda: "a message after the restore" in bob.texts(), "messages go on")
        assert (await bob.join("room"))["attrs"] == {"topic": "tea"}


def saved_while_it_runs(stack: Stack, app: App, saved: Path) -> tuple[dict, dict]:
    """Makes a backup; what must be the same after its restore, and what the command said."""
    report = json.loads(ctl(stack, "backup", str(saved), "--json"))
    assert report["mailboxes"] == 1 and report["directory"] == str(saved)
    assert saved.stat().st_mode & 0o777 == 0o700
    assert "exists already" in ctl(stack, "backup", str(saved), code=1)
    before = durable(stack, app)
    # Not into what is in use.
    assert "processes are running" in ctl(stack, "restore", str(saved), "--replace", code=1)
    assert "has apps or users: --replace deletes them" in ctl(stack, "restore", str(saved), code=1)
    return before, report


def refusals(stack: Stack, saved: Path, tmp_path: Path) -> None:
    """What `restore` refuses before it changes anything."""
    apps = stack.sql("SELECT id FROM apps ORDER BY 1")
    for name, file, change, reason in (
        ("short", "postgres.dump", lambda data: data[:-100], "is not as long as the manifest says"),
        ("newer", "manifest", lambda data: data.replace(b"readers_from 1\n", b"readers_from 99\n"), "needs a build of level 99 or higher"),
        ("format", "manifest", lambda data: data.replace(b"format 1\n", b"format 2\n"), "has format 2, not 1"),
        ("tools", "manifest", lambda data: data.replace(b"pg_dump ", b"pg_dump 9"), "pg_restore on PATH is of version"),
        ("broken", "postgres.dump", lambda data: b"x" * len(data), "pg_restore: "),
    ):
        copy = tmp_path / name
        subprocess.run(["cp", "-r", saved, copy], check=True)
        path = copy / file
        path.write_bytes(change(path.read_bytes()))
        assert reason in ctl(stack, "restore", str(copy), "--replace", code=1), name
    os.remove(tmp_path / "newer" / "manifest")
    assert "No such file" in ctl(stack, "restore", str(tmp_path / "newer"), "--replace", code=1)
    assert stack.sql("SELECT id FROM apps ORDER BY 1") == apps


def test_programs_that_are_missing_are_named(stack: Stack, tmp_path: Path):
    found = stack.endpoints
    done = run_program(
        str(BINARIES / "heliographctl"), "backup", str(tmp_path / unique("backup")), PATH=str(tmp_path),
        HELIOGRAPH_POSTGRES_URL=found["postgres"]["url"], HELIOGRAPH_REDIS_URL=found["redis"]["url"])
    assert (done.returncode, done.stderr) == (1, "heliographctl: pg_dump is not on PATH\n")
