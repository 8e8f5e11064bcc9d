"""Logs tell no secrets, whatever is done and however much is logged; and the search for them can fail."""

import asyncio
import json
import uuid
from pathlib import Path

import pytest
from answers import CallFailed, LoginRefused
from apps import App
from fixtures import People
from secrecy import Spoken, check_logs
from signaling import Client
from stack_control import Stack, unique
from waiting import eventually
from web import metrics

MARK = f"confidential {uuid.uuid4().hex}"


def spoken() -> Spoken:
    made = Spoken()
    made.token("1:app:1700000000:0123456789abcdef0123456789abcdef")
    made.certificate("fedcba9876543210fedcba9876543210")
    made.line("session0001.secretsecretsecret.app.ada")
    made.body('{"key": "a long text of a user\\n"}')
    made.body("short")
    made.media({"secret": "secretofonecall", "ufrag": "aB3dE6gH", "pwd": "0123456789abcdefghijkl", "node": "media-1"})
    made.media({"offer": "v=0\r\no=- 4611731400430051336 2 IN IP4 127.0.0.1\r\na=ice-ufrag:abcd\r\na=ice-pwd:thepasswordoftheoffer\r\n"})
    made.media_key(bytes(range(28)))
    made.dynamic_key("00487654321fedcba9887654321fedcba9876543210970ca35de60c44645bbae8a215061b33")
    return made


@pytest.mark.parametrize(("line", "kind"), [
    ("login token=1:app:1700000000:0123456789abcdef0123456789abcdef", "a token"),
    ("digest 0123456789abcdef0123456789abcdef", "a token"),
    ("app certificate=fedcba9876543210fedcba9876543210", "a certificate"),
    ("resumed line=session0001.secretsecretsecret.app.ada", "a line"),
    ('frame "{\\"key\\": \\"a long text of a user\\\\n\\"}"', "a body"),
    ("participant secretofonecall", "a participant's secret"), ("check of aB3dE6gH:xyz", "a participant's ufrag"),
    ("password 0123456789abcdefghijkl", "a participant's pwd"), ("ice-pwd:thepasswordoftheoffer", "a line of an offer"),
    ("sdp=v=0\\r\\no=- 4611731400430051336 2 IN IP4 127.0.0.1", "a line of an offer"),
    ("key 000102030405060708090a0b0c0d0e0f101112131415161718191a1b", "a media key"),
    ("key AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGw==", "a media key"),
    ("key=00487654321fedcba9887654321fedcba9876543210970ca35", "a dynamic key"),
    ("STATEMENT: insert into a values ('{\"key\": \"a long text of a user')", "a body"),
])
def test_the_search_finds(tmp_path: Path, line: str, kind: str):
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "gateway#1.log").write_text(f"started\n{line}\nmore\n")
    assert spoken().leaks(tmp_path / "logs") == [f"{kind} in gateway#1.log, line 2"]


def test_the_search_lets_pass(tmp_path: Path):
    (tmp_path / "presence#1.log").write_text(
        "app=app session=session0001 account=ada expiry=1700000000 short\nsession session0001 of a user\n")
    assert spoken().leaks(tmp_path) == []


async def good_acts(ada: Client, bob: Client, channel: str) -> None:
    """Every act that carries a text of a user."""
    await ada.tell(bob.account, f"{MARK} instant")
    await ada.say(channel, f"{MARK} channel")
    await ada.call("user_set_attr", name="mood", value=f"{MARK} user attribute")
    await ada.call("channel_set_attr", channel=channel, name="topic", value=f"{MARK} channel attribute")
    await ada.act("invite", channel, bob.account, json.dumps({"text": f"{MARK} extra"}))
    await eventually(lambda: bob.calls("invite"), "the invitation")
    await bob.act("invite_accept", channel, ada.account, json.dumps({"text": f"{MARK} accepted"}))
    await ada.act("invite_msg", channel, bob.account, json.dumps({"text": f"{MARK} within"}))
    await ada.act("invite_bye", channel, bob.account, json.dumps({"text": f"{MARK} ended"}))


async def refused_acts(ada: Client, bob: Client, channel: str) -> None:
    """Acts that are refused, of which logs say more than of others."""
    for act in (
        ada.tell(bob.account, f"{MARK} too long" + "x" * 8192),
        ada.call("channel_set_attr", channel=channel, name="_system", value=f"{MARK} reserved"),
        ada.call("user_set_attr", name="null", value=f"{MARK} with \x00"),
        ada.act("invite", channel, "+4912345", f"{MARK} no JSON"),
        ada.call(f"{MARK} function", content=MARK),
    ):
        with pytest.raises(CallFailed):
            await act


async def refused_connections(stack: Stack, cast: People, app: App) -> None:
    """A login with the token of another user, and frames that close the connection."""
    stranger = cast.make("stranger", app, token=app.token("somebody else"))
    with pytest.raises(LoginRefused):
        await stranger.login(stack.gateways[0])
    stranger.violations.clear()
    for frame in (f'["{MARK}", 1]', f'["login", {{"token": "{MARK}"}}]', f'{{"{MARK}', f'["line_login", {{"line": "{MARK}"}}]'):
        guest = await cast.make("guest", app).connect(stack.gateways[1])
        await guest.send_raw(frame)
        await eventually(guest.closed.is_set, "closed after a bad frame")
        guest.violations.clear()


async def test_nothing_of_it_is_logged(make_stack, people, monkeypatch):
    """Good and bad acts with secret texts, while everything that can be logged is logged."""
    monkeypatch.setenv("HELIOGRAPH_LOG_LEVEL", "trace")
    stack = make_stack(gateways=2)
    app = stack.token_app
    async with people(stack) as cast:
        ada, bob = await cast.login("ada", "bob", app=app)
        channel = unique("room")
        await ada.join(channel)
        await bob.join(channel)
        await good_acts(ada, bob, channel)
        await refused_acts(ada, bob, channel)
        await refused_connections(stack, cast, app)
        ada.abort()
        await eventually(ada.closed.is_set, "the connection broke")
        await ada.resume(stack.gateways[1])
        stack.kill("presence#1")
        stack.start("presence#1")
        await bob.logout()
        await asyncio.wait_for(ada.logout(), 20)
    for member in stack.endpoints["gateways"] + stack.endpoints["services"]:
        names = " ".join(metrics(member["http"]))
        assert names and MARK not in names and app.certificate not in names
    check_logs(stack.directory)
    for log in (stack.directory / "logs").iterdir():
        assert MARK not in log.read_text(errors="replace"), f"{log}: what a client sent"
