"""The audit trail: what keys of the server API and `heliographctl` do is noted, with who it was."""

import getpass
import json

import pytest
from server_api import ServerAPI, create_key
from stack_control import Stack, unique


def trail(stack: Stack, app: str, *more: str) -> list[dict]:
    """The entries of an app, the earliest first."""
    found = json.loads(stack.control("audit", "--app", app, "--limit", "1000", "--json", *more))
    return list(reversed(found["entries"]))


@pytest.fixture
def app(stack: Stack) -> str:
    return stack.create_app(unique("audit")).id


def test_acts_of_a_key(stack: Stack, app: str):
    made = create_key(stack, app=app)
    api = ServerAPI(stack, made["key"])
    user = ("apps", app, "users", "änna")
    assert api.put(*user, "ban", body={"seconds": 60, "reason": "spam ☹"}).status == 200
    assert api.delete(*user, "ban").status == 200
    token = api.post(*user, "tokens", body={"ttl": 30}).body["token"]
    assert api.post(*user, "tokens", "revoke", body={"ttl": 90}).status == 200
    assert api.post(*user, "disconnect").status == 200
    # What changes nothing has no entry, and neither has what is refused.
    assert api.get(*user, "ban").status == 404
    assert api.get(*user).status == 200
    assert api.post(*user, "tokens", body={"ttl": 0}).status == 400
    entries = [one for one in trail(stack, app) if one["by"] == "key"]
    assert [(one["act"], one["subject"], one["app"], one["name"]) for one in entries] == [
        (act, "änna", app, made["id"]) for act in ("user.ban", "user.unban", "token.mint", "user.revoke", "user.disconnect")]
    assert entries[0]["details"]["reason"] == "spam ☹" and entries[2]["details"] == {"seconds": 30}
    assert all(one["command"] for one in entries) and len({one["command"] for one in entries}) == 5
    assert token not in json.dumps(entries)


def test_deleted_messages_and_ended_calls(stack: Stack, app: str):
    made = create_key(stack, app=app)
    api = ServerAPI(stack, made["key"])
    user, calls = ("apps", app, "users", "änna"), ("apps", app, "calls")
    text = unique("a text")
    first, second = (api.post(*user, "messages", body={"from": "shop", "message": text}).body["version"] for _ in range(2))
    once = {"Idempotency-Key": unique("recall"), "X-Request-Id": "the-recall"}
    assert [api.delete(*user, "mailbox", str(first), headers=once).status for _ in range(2)] == [200, 200]
    assert api.delete(*user, "mailbox").body["removed"] == 1 and second > first
    call = api.post(*calls, body={"from": "shop", "to": "änna", "channel": "room 日", "extra": json.dumps(text)}).body["call"]
    assert api.delete(*calls, call, query="?account=shop").status == 200
    # What only reads, what is refused, and a call that there is not have no entry.
    assert api.get(*user, "mailbox").status == 200
    assert api.delete(*user, "mailbox", "x").status == 400
    assert api.delete(*calls, call, query="?account=shop").status == 404
    entries = [one for one in trail(stack, app) if one["by"] == "key"]
    assert [(one["act"], one["subject"], one["name"], one["details"]) for one in entries] == [
        ("message.recall", "änna", made["id"], {"version": first}), ("mailbox.empty", "änna", made["id"], {}),
        ("call.end", "shop", made["id"], {"call": call, "channel": "room 日"})]
    assert entries[0]["requestId"] == "the-recall" and len({one["command"] for one in entries}) == 3
    assert text not in json.dumps(entries)


def test_acts_of_the_command_line(stack: Stack, app: str):
    user = ("--app", app, "--account", "anna")
    stack.control("app", "limit", app, "--messages-per-second", "99")
    key = create_key(stack, app=app)["id"]
    stack.control("key", "revoke", key)
    stack.control("user", "ban", *user, "--seconds", "60", "--reason", "rude")
    stack.control("user", "unban", *user)
    stack.control("user", "disconnect", *user)
    stack.control("user", "kick", *user)
    stack.control("token", "mint", *user, "--ttl", "50")
    stack.control("trunk", "set", app, "sip.example.org:5060", "--user", "u", "--secret", "trunk-secret-word", "--allow", "none")
    number = "+49" + str(abs(hash(app)))[:9]
    stack.control("number", "set", number, "--app", app, "--account", "anna")
    stack.control("number", "remove", number)
    stack.control("webhook", "set", app, "https://example.org/hook")
    stack.control("hook", "set", app, "https://example.org/hook")
    for kind in ("trunk", "webhook", "hook"):
        stack.control(kind, "remove", app)
    stack.control("app", "rotate", app)
    stack.control("app", "remove", app)
    entries = trail(stack, app)
    assert {(one["by"], one["name"]) for one in entries[1:]} == {("heliographctl", getpass.getuser())}
    assert [(one["act"], one["subject"]) for one in entries] == [
        ("app.create", app), ("app.change", app), ("key.create", key), ("key.revoke", key), ("user.ban", "anna"),
        ("user.unban", "anna"), ("user.disconnect", "anna"), ("user.disconnect", "anna"), ("token.mint", "anna"),
        ("trunk.set", app), ("number.set", number), ("number.remove", number), ("webhook.set", app), ("hook.set", app),
        ("trunk.remove", app), ("webhook.remove", app), ("hook.remove", app), ("app.change", app), ("app.remove", app)]
    details = {one["act"]: one["details"] for one in entries}
    assert details["webhook.set"]["name"] == "default" and details["webhook.remove"] == {"name": "default"}
    assert "trunk-secret-word" not in json.dumps(entries)


def test_an_act_that_cannot_be_noted_is_refused(make_stack):
    stack: Stack = make_stack(gateways=1)
    api = ServerAPI(stack, create_key(stack)["key"])
    app = ("apps", stack.open_app.id)
    user = (*app, "users", "anna")
    assert api.post(*user, "disconnect").status == 200
    version = api.post(*user, "messages", body={"from": "shop", "message": "waits"}).body["version"]
    call = api.post(*app, "calls", body={"from": "shop", "to": "anna", "channel": "c"}).body["call"]
    acts = ("user.disconnect", "token.mint", "message.recall", "mailbox.empty", "call.end")
    stack.sql(f"ALTER TABLE audit_entries ADD CONSTRAINT none CHECK (act NOT IN {acts}) NOT VALID")
    for path, body in ((("disconnect",), None), (("tokens",), {"ttl": 9})):
        assert api.post(*user, *path, body=body).status >= 500
    assert api.delete(*user, "mailbox", str(version)).status >= 500
    assert api.delete(*user, "mailbox").status >= 500
    assert api.delete(*app, "calls", call, query="?account=shop").status >= 500
    assert [one["version"] for one in api.get(*user, "mailbox").body["messages"]] == [version]
    stack.sql("ALTER TABLE audit_entries DROP CONSTRAINT none")
    assert api.post(*user, "disconnect").status == 200
    # Nothing of what was refused was done.
    assert api.delete(*user, "mailbox", str(version)).status == 200
    assert api.delete(*app, "calls", call, query="?account=shop").status == 200
