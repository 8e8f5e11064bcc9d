"""Before-hooks with a real server of an app: it allows, denies, rewrites, and fails in every way."""

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from unittest import mock

import pytest
from answers import LoginRefused, Reply
from apps import App
from certificates import make_certificate
from fixtures import running
from hook_server import ALLOW, DENY, HookServer
from server_api import ServerAPI, create_key
from stack_control import BINARIES, ROOT, Stack, run_program, unique
from waiting import eventually, let_pass
from web import grown, metrics
from webhook_receiver import SECRET

# Short, so that failures are quick; and long enough for a machine with other work.
DEADLINE_MS = 1500
# What answers at once takes less, what waits for a deadline more.
AT_ONCE_SECONDS = 1.0
# Gateways tell whose servers they leave alone every few seconds.
TOLD = 20


@pytest.fixture(scope="module")
def trusted(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The certificate of a server that gateways trust."""
    return str(make_certificate(tmp_path_factory.mktemp("trusted")))


@pytest.fixture(scope="module")
def hooks(request: pytest.FixtureRequest, trusted: str) -> Iterator[Stack]:
    with mock.patch.dict(os.environ, {"HELIOGRAPH_GATEWAY_HOOKS_TLS_AUTHORITY": trusted}), \
            running(request, gateways=1, sip_bridge=0) as stack:
        yield stack


@pytest.fixture
def server() -> Iterator[HookServer]:
    with HookServer() as server:
        yield server
        assert not server.problems, server.problems


def set_hook(stack: Stack, app: App, url: str, *options: str) -> dict:
    return json.loads(stack.control(
        "hook", "set", app.id, url, f"--secret={SECRET}", f"--deadline={DEADLINE_MS}", "--json", *options))


def app_for(stack: Stack, url: str, *options: str) -> App:
    """A new app whose server is asked."""
    app = stack.create_app(unique("app"))
    set_hook(stack, app, url, "--allow-loopback", *options)
    return app


def doctors_advice(stack: Stack) -> list[str]:
    settings = {"HELIOGRAPH_REDIS_URL": stack.endpoints["redis"]["url"], "HELIOGRAPH_POSTGRES_URL": stack.endpoints["postgres"]["url"]}
    done = run_program(str(BINARIES / "heliographctl"), "doctor", "--json", **settings)
    return json.loads(done.stdout)["advice"]


def refusal(reply: Reply) -> tuple[int, str]:
    assert not reply.ok
    return reply.data["code"], reply.data["reason"]


async def said(client, channel: str, text: str) -> Reply:
    return await client.attempt("channel_sendmsg", name=channel, msg=text, force=True)


def answers(before: dict[str, float], stack: Stack) -> dict[str, float]:
    """By how much the counters of answers grew."""
    after = metrics(stack.endpoints["gateways"][0]["http"])
    return {word: grown(before, after, "heliograph_gateway_hook_answers_total", f'"{word}"') for word in ("allow", "deny", "rewrite")}


@pytest.mark.every_redis
async def test_a_login_is_allowed_or_denied(hooks: Stack, people, server: HookServer):
    app = app_for(hooks, server.url(), "--on", "login")
    server.decide = lambda question: DENY if question["account"].startswith("eve") else ALLOW
    before = metrics(hooks.endpoints["gateways"][0]["http"])
    async with people(hooks) as cast:
        anna, eve = cast.make("anna", app), cast.make("eve", app)
        await anna.login(hooks.gateways[0])
        with pytest.raises(LoginRefused) as refused:
            await eve.login(hooks.gateways[0])
        assert (refused.value.data["code"], refused.value.data["reason"]) == (200, "denied")
        # Nothing else is asked about.
        await anna.join(unique("room"))
        await anna.tell(anna.account, "to myself only")
    assert server.questions[0] == {
        "hook": "login", "app": app.id, "account": anna.account, "token": "_no_need_token", "device": "websdk", "address": "127.0.0.1"}
    assert [question["account"] for question in server.questions] == [anna.account, eve.account]
    assert answers(before, hooks) == {"allow": 1, "deny": 1, "rewrite": 0}


async def test_a_token_is_checked_before_the_server_is_asked(hooks: Stack, people, server: HookServer):
    app = App(unique("app"), "5CFd2fd1755d40ecb72977518be15d3b", True)
    hooks.control("app", "create", f"--id={app.id}", f"--certificate={app.certificate}")
    set_hook(hooks, app, server.url(), "--allow-loopback")
    async with people(hooks) as cast:
        anna, bob = cast.make("anna", app), cast.make("bob", app)
        bob.token = anna.token
        with pytest.raises(LoginRefused) as refused:
            await bob.login(hooks.gateways[0])
        assert refused.value.data["code"] == 206 and not server.attempts
        await anna.login(hooks.gateways[0])
    assert [question["token"] for question in server.questions] == [anna.token]


@pytest.mark.every_redis
async def test_a_join_is_allowed_or_denied(hooks: Stack, people, server: HookServer):
    app = app_for(hooks, server.url(), "--on", "join")
    open_room, closed_room = unique("open"), unique("closed")
    server.decide = lambda question: DENY if question["channel"] == closed_room else ALLOW
    async with people(hooks) as cast:
        anna, bob = cast.make("anna", app), cast.make("bob", app)
        for user in (anna, bob):
            await user.login(hooks.gateways[0])
            await user.join(open_room)
        assert refusal(await anna.attempt("channel_join", name=closed_room)) == (300, "denied")
        # She is still where she was.
        await bob.say(open_room, "is anna still here?")
        await eventually(lambda: anna.of_type("channel_msg"), "the channel's message arrived")
        # What came after the join waited for it.
        join, message = await asyncio.gather(
            anna.attempt("channel_join", name=closed_room), anna.attempt("channel_sendmsg", name=open_room, msg="yes, she is still"))
        assert refusal(join) == (300, "denied") and message.ok
    assert server.questions[0] == {
        "hook": "join", "app": app.id, "account": anna.account, "uid": anna.uid, "channel": open_room}


@pytest.mark.every_redis
async def test_a_message_is_allowed_denied_or_rewritten(hooks: Stack, people, server: HookServer):
    app = app_for(hooks, server.url(), "--on", "send")

    def decide(question: dict) -> dict:
        if "darn" in question["text"]:
            return {"answer": "rewrite", "text": question["text"].replace("darn", "****")}
        return DENY if "spam" in question["text"] else ALLOW

    server.decide = decide
    room = unique("room")
    before = metrics(hooks.endpoints["gateways"][0]["http"])
    async with people(hooks) as cast:
        anna, bob = cast.make("anna", app), cast.make("bob", app)
        for user in (anna, bob):
            await user.login(hooks.gateways[0])
            await user.join(room)
        for text in ("good morning to you", "spam for everybody", "the darn \u201cphone\u201d rings"):
            expected = (400, "denied") if "spam" in text else None
            to_user = await anna.attempt("user_sendmsg", peer=bob.account, flag="v1:E:3600", t="instant", content=text)
            to_room = await anna.attempt("channel_sendmsg", name=room, msg=text)
            for reply in (to_user, to_room):
                assert (refusal(reply) if expected else reply.ok) == (expected or True)
        wanted = ["good morning to you", "the **** \u201cphone\u201d rings"]
        await eventually(lambda: bob.texts() == wanted, "the messages arrived")
        await eventually(lambda: [event.content["msg"] for event in bob.of_type("channel_msg")] == wanted, "those to the channel too")
    asked = server.questions
    assert asked[0] == {
        "hook": "send", "app": app.id, "account": anna.account, "uid": anna.uid, "to": bob.account, "text": "good morning to you"}
    assert asked[1] == {
        "hook": "send", "app": app.id, "account": anna.account, "uid": anna.uid, "channel": room, "text": "good morning to you"}
    assert answers(before, hooks) == {"allow": 2, "deny": 2, "rewrite": 2}


async def test_messages_of_a_session_keep_their_order_and_hold_up_no_other(hooks: Stack, people, server: HookServer):
    app = app_for(hooks, server.url(), "--on", "send", "--deadline=5000")
    server.held = {"the first of all"}
    async with people(hooks) as cast:
        anna, bob, carl = (cast.make(name, app) for name in ("anna", "bob", "carl"))
        for user in (anna, bob, carl):
            await user.login(hooks.gateways[0])
        texts = ["the first of all", "the second of all", "the third of all"]
        sends = [asyncio.ensure_future(anna.tell(bob.account, text)) for text in texts]
        await eventually(lambda: server.questions, "the first question arrived")
        other = await carl.attempt("user_sendmsg", peer=bob.account, flag="v1:E:3600", t="instant", content="another session")
        assert other.ok and other.seconds < AT_ONCE_SECONDS
        await eventually(lambda: bob.texts() == ["another session"], "it arrived before")
        assert [question["text"] for question in server.asked("send")] == ["the first of all", "another session"]
        server.release.set()
        await asyncio.gather(*sends)
        await eventually(lambda: bob.texts(anna.account) == texts, "they arrived in order")


@pytest.mark.parametrize("opens", [False, True], ids=["fail-closed", "fail-open"])
@pytest.mark.parametrize("mode", [*HookServer.MODES, "down", "private", "name"])
async def test_a_server_that_fails(hooks: Stack, people, server: HookServer, mode: str, opens: bool):
    app = hooks.create_app(unique("app"))
    url = {"down": "http://127.0.0.1:1/", "name": "http://no-such-host.invalid/"}.get(mode, server.url())
    server.mode = mode if mode in HookServer.MODES else "ok"
    options = (["--fail-open"] if opens else []) + ([] if mode == "private" else ["--allow-loopback"])
    before = metrics(hooks.endpoints["gateways"][0]["http"])
    async with people(hooks) as cast:
        # Without the hook, so that there is a session.
        set_hook(hooks, app, url, "--on", "send", "join", *options)
        anna = cast.make("anna", app)
        await anna.login(hooks.gateways[0])
        joined = await anna.attempt("channel_join", name=unique("room"))
        sent = await anna.attempt("user_sendmsg", peer=anna.account, flag="v1:E:3600", t="instant", content="does it pass?")
        if opens:
            assert joined.ok and sent.ok
            await eventually(lambda: anna.texts() == ["does it pass?"], "it arrived")
        else:
            assert refusal(joined) == (300, "unavailable") and refusal(sent) == (400, "unavailable")
            assert not anna.texts()
    cause = {
        "503": "status", "hang": "timeout", "half": "timeout", "redirect": "redirect", "reset": "broken", "garbage": "broken",
        "large": "answer", "words": "answer", "unfinished": "answer", "down": "connect", "private": "address", "name": "name"}[mode]
    after = metrics(hooks.endpoints["gateways"][0]["http"])
    assert grown(before, after, "heliograph_gateway_hook_failures_total", f'"{cause}"') == 2
    assert grown(before, after, "heliograph_gateway_hook_failures_total") == 2
    assert server.redirected == 0
    if mode in ("private", "down", "name"):
        assert server.attempts == 0


@pytest.mark.parametrize("opens", [False, True], ids=["fail-closed", "fail-open"])
async def test_a_login_without_an_answer(hooks: Stack, people, server: HookServer, opens: bool):
    server.mode = "503"
    app = app_for(hooks, server.url(), "--on", "login", *(["--fail-open"] if opens else []))
    async with people(hooks) as cast:
        anna = cast.make("anna", app)
        if opens:
            await anna.login(hooks.gateways[0])
        else:
            with pytest.raises(LoginRefused) as refused:
                await anna.login(hooks.gateways[0])
            assert (refused.value.data["code"], refused.value.data["reason"]) == (200, "unavailable")


async def test_a_private_network_is_not_loopback(hooks: Stack, people, server: HookServer):
    app = hooks.create_app(unique("app"))
    set_hook(hooks, app, server.url(), "--on", "login", "--allow-private")
    async with people(hooks) as cast:
        with pytest.raises(LoginRefused) as refused:
            await cast.make("anna", app).login(hooks.gateways[0])
        assert refused.value.data["reason"] == "unavailable" and not server.attempts


@pytest.mark.parametrize("host", ["localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "10.255.255.1", "169.254.169.254"])
async def test_private_addresses_are_refused_however_they_are_written(hooks: Stack, people, server: HookServer, host: str):
    app = hooks.create_app(unique("app"))
    set_hook(hooks, app, server.url(host), "--on", "login")
    async with people(hooks) as cast:
        with pytest.raises(LoginRefused) as refused:
            await cast.make("anna", app).login(hooks.gateways[0])
        assert refused.value.data["reason"] == "unavailable" and not server.attempts


async def test_a_dead_server_is_left_alone_and_harms_no_other_app(hooks: Stack, people, server: HookServer):
    api = ServerAPI(hooks, create_key(hooks, scopes=("read",))["key"])

    def left_alone() -> list[str]:
        processes = api.get("processes").body["processes"]
        assert all(one["openHooks"] is None for one in processes if one["kind"] != "gateway")
        return [app for one in processes for app in one["openHooks"] or []]

    server.mode = "hang"
    room = unique("room")
    with HookServer() as healthy:
        dead, other = app_for(hooks, server.url(), "--on", "send"), app_for(hooks, healthy.url(), "--on", "send")
        async with people(hooks) as cast:
            users = [cast.make(f"user{number}", dead) for number in range(5)]
            bob, carl = cast.make("bob", other), cast.make("carl", hooks.open_app)
            for user in (*users, bob, carl):
                await user.login(hooks.gateways[0])
            hanging = [asyncio.ensure_future(said(user, room, "does it hang?")) for user in users]
            await eventually(lambda: server.attempts == 5, "the questions hang")
            for user in (bob, carl):
                reply = await said(user, room, "am I held up?")
                assert reply.ok and reply.seconds < AT_ONCE_SECONDS
            for reply in await asyncio.gather(*hanging):
                assert refusal(reply) == (400, "unavailable")
            # After five failures in a row nobody waits.
            reply = await said(users[0], room, "is it still asked?")
            assert refusal(reply) == (400, "unavailable") and reply.seconds < AT_ONCE_SECONDS
            assert server.attempts == 5
            await eventually(lambda: dead.id in left_alone(), "the gateway tells whose server it leaves alone", TOLD)
            assert other.id not in left_alone()
            assert [line for line in doctors_advice(hooks) if f"before-hook of {dead.id} is left alone by gateway" in line]
            server.mode = "ok"

            async def answered() -> bool:
                return (await said(users[0], room, "is it well again?")).ok

            await eventually(answered, "it is asked again")
            await eventually(lambda: dead.id not in left_alone(), "the gateway tells that it asks again", TOLD)
            assert not [line for line in doctors_advice(hooks) if dead.id in line and "alone" in line]
            assert len(healthy.questions) == 1


@pytest.mark.parametrize(
    "options, goes_on", [([], False), (["--fail-open"], True), (["--fail-open", "--refuse-busy"], False)],
    ids=["closed", "open", "open but when busy"])
async def test_questions_of_an_app_are_bounded(hooks: Stack, people, server: HookServer, options: list[str], goes_on: bool):
    app = app_for(hooks, server.url(), "--on", "send", "--requests=1", "--deadline=5000", *options)
    server.held = {"the one question"}
    room = unique("room")
    async with people(hooks) as cast:
        anna, bob = cast.make("anna", app), cast.make("bob", app)
        for user in (anna, bob):
            await user.login(hooks.gateways[0])
        held = asyncio.ensure_future(said(anna, room, "the one question"))
        await eventually(lambda: server.questions, "it is under way")
        reply = await said(bob, room, "one too many")
        assert (reply.ok if goes_on else refusal(reply) == (400, "unavailable")) and reply.seconds < AT_ONCE_SECONDS
        assert len(server.questions) == 1, "it was not asked"
        server.release.set()
        assert (await held).ok and (await said(bob, room, "now there is room")).ok


async def test_an_address_has_only_its_share(make_stack, people, server: HookServer, monkeypatch):
    # Loopback is counted.
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_ADDRESS_EXEMPT", "192.0.2.1")
    stack = make_stack(gateways=1, sip_bridge=0)
    app = app_for(stack, server.url(), "--on", "send", "--requests=32", "--deadline=5000", "--fail-open")
    share = 4
    texts = [f"question number {number}" for number in range(share)]
    server.held = set(texts)
    room = unique("room")
    async with people(stack) as cast:
        users = [cast.make(f"user{number}", app) for number in range(share + 1)]
        for user in users:
            await user.login(stack.gateways[0])
        held = [asyncio.ensure_future(said(user, room, text)) for user, text in zip(users, texts, strict=False)]
        await eventually(lambda: len(server.questions) == share, "its share is under way")
        reply = await said(users[-1], room, "one more than its share")
        assert refusal(reply) == (400, "unavailable") and reply.seconds < AT_ONCE_SECONDS
        server.release.set()
        assert all(answer.ok for answer in await asyncio.gather(*held))
        assert (await said(users[-1], room, "now there is room")).ok
    assert len(server.questions) == share + 1


async def test_sessions_follow_a_change(hooks: Stack, people, server: HookServer):
    app, room = hooks.create_app(unique("app")), unique("room")
    server.decide = lambda question: DENY
    async with people(hooks) as cast:
        anna = cast.make("anna", app)
        await anna.login(hooks.gateways[0])
        assert (await said(anna, room, "before the hook")).ok
        set_hook(hooks, app, server.url(), "--allow-loopback", "--on", "send")
        await let_pass(6.5, "a gateway keeps an app's settings for 5 s, presence for 1 s")
        await cast.make("bob", app).login(hooks.gateways[0])
        await let_pass(0.5, "the login goes on with the settings that are known, while newer ones are asked for")
        assert refusal(await said(anna, room, "with the hook")) == (400, "denied")
        # Resumed, the session is asked about from its first message.
        anna.abort()
        await anna.resume(hooks.gateways[0])
        assert refusal(await said(anna, room, "once it is resumed")) == (400, "denied")
        hooks.control("hook", "remove", app.id)
        await let_pass(6.5, "a gateway keeps an app's settings for 5 s, presence for 1 s")
        await cast.make("carl", app).login(hooks.gateways[0])
        await let_pass(0.5, "the login goes on with the settings that are known, while newer ones are asked for")
        assert (await said(anna, room, "after the hook")).ok


async def test_tls(hooks: Stack, people, trusted: str, tmp_path):
    async with people(hooks) as cast:
        with HookServer(trusted) as good, HookServer(make_certificate(tmp_path)) as bad:
            await cast.make("anna", app_for(hooks, good.url(), "--on", "login")).login(hooks.gateways[0])
            assert len(good.questions) == 1 and not good.problems
            with pytest.raises(LoginRefused):
                await cast.make("bob", app_for(hooks, bad.url(), "--on", "login")).login(hooks.gateways[0])
            assert bad.attempts == 0


async def test_connections_are_kept_for_the_next_question(hooks: Stack, people, trusted: str):
    async with people(hooks) as cast:
        with HookServer(trusted) as server:
            anna = cast.make("anna", app_for(hooks, server.url(), "--on", "send"))
            await anna.login(hooks.gateways[0])
            for number in range(20):
                await anna.tell(anna.account, str(number))
            assert len(server.asked("send")) == 20
            # More than one only where the machine takes seconds between two questions.
            assert server.connections < 10


async def test_the_example_of_the_page(hooks: Stack, people, tmp_path):
    page = (ROOT / "Docs" / "webhooks.md").read_text(encoding="utf-8")
    example = next(block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "BaseHTTPRequestHandler" in block)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    for written, here in (("the secret that hook set has printed", SECRET), ('"0.0.0.0", 8000', f'"127.0.0.1", {port}')):
        assert example.count(written) == 1
        example = example.replace(written, here)
    (tmp_path / "hooks.py").write_text(example)
    with subprocess.Popen([sys.executable, tmp_path / "hooks.py"], stderr=subprocess.DEVNULL) as running_example:
        try:
            await eventually(lambda: is_open(port), "the example listens")
            app = app_for(hooks, f"http://127.0.0.1:{port}/ask")
            async with people(hooks) as cast:
                anna = cast.make("anna", app)
                await anna.login(hooks.gateways[0])
                await anna.tell(anna.account, "the darn phone rings")
                await eventually(lambda: anna.texts() == ["the **** phone rings"], "it is rewritten")
                with pytest.raises(LoginRefused) as refused:
                    await cast.exactly("eve", app).login(hooks.gateways[0])
                assert refused.value.data["reason"] == "denied"
        finally:
            running_example.kill()


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_the_command_shows_lists_and_removes(hooks: Stack):
    app = hooks.create_app(unique("app"))
    made = json.loads(hooks.control(
        "hook", "set", app.id, "https://hooks.example.com/x", f"--secret={SECRET}", "--on", "send", "login", "--json"))
    assert made.pop("setAt") > 0
    assert made == {
        "app": app.id, "url": "https://hooks.example.com/x", "on": ["login", "send"], "deadline": 1000, "failOpen": False,
        "refuseBusy": False, "requests": 64, "allowPrivate": False, "allowLoopback": False, "secret": SECRET}
    # What is not named stays; the secret is shown only when asked for.
    again = json.loads(hooks.control("hook", "set", app.id, "https://hooks.example.com/y", "--fail-open", "--deadline=70", "--json"))
    assert again.pop("setAt") and again == made | {"url": "https://hooks.example.com/y", "failOpen": True, "deadline": 70}
    closed = json.loads(hooks.control("hook", "set", app.id, "https://hooks.example.com/y", "--no-fail-open", "--json"))
    assert closed.pop("setAt") and closed == again | {"failOpen": False}
    assert SECRET not in hooks.control("hook", "show", app.id) and SECRET in hooks.control("hook", "show", app.id, "--with-secret")
    assert app.id in hooks.control("hook", "list") and SECRET not in hooks.control("hook", "list")
    assert json.loads(hooks.control("hook", "remove", app.id, "--json")) == {"removed": app.id}
    for arguments in (["show", app.id], ["remove", app.id], ["set", "no-such-app", "https://a/"]):
        assert refused(hooks, *arguments) == 1


@pytest.mark.parametrize("arguments", [
    ["ftp://a/"], ["http://user:password@a/"], ["http://a/#x"], ["http://a/" + "x" * 1992], ["http://a/", "--deadline=49"],
    ["http://a/", "--deadline=5001"], ["http://a/", "--requests=0"], ["http://a/", "--requests=1001"],
    ["http://a/", "--secret=" + "x" * 15], ["http://a/", "--secret=" + "x" * 129], ["http://a/", "--on", "logout"],
], ids=lambda words: " ".join(words)[:30])
def test_bounds_of_a_hook(hooks: Stack, arguments: list[str]):
    app = hooks.create_app(unique("app"))
    assert refused(hooks, "set", app.id, *arguments) == 64
    assert refused(hooks, "show", app.id) == 1


def refused(stack: Stack, *arguments: str) -> int:
    """The exit status of a command that fails."""
    done = run_program(str(BINARIES / "heliographctl"), "hook", *arguments, HELIOGRAPH_POSTGRES_URL=stack.endpoints["postgres"]["url"])
    assert done.returncode != 0
    return done.returncode
