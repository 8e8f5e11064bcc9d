"""Logging in and out, and what goes wrong."""

import subprocess
import time
from pathlib import Path

import pytest
from apps import App, make_token
from certificates import make_certificate
from chromium import Browser
from pages import CLIENT, Site
from stack_control import Stack, unique
from users import WebUser
from waiting import eventually
from web import metric


def test_the_classic_script_is_current():
    done = subprocess.run(
        [str(CLIENT / "build.py"), "--check"], capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("form", ["/module", "/classic"])
async def test_login_and_logout(stack: Stack, visit, form: str):
    async with visit(stack, form) as page:
        user = await WebUser.login(page, stack.token_app, unique("web"))
        assert await user.first_status() == 1
        uid, = await user.wait("onLoginSuccess")
        assert isinstance(uid, int) and uid > 0
        assert await page.evaluate("users[0].session.uid") == uid
        assert await user.status() == 2
        assert await user.act("getSDKVersion") == 1010104000
        await user.act("logout")
        assert await user.wait("onLogout") == [101]
        assert await user.status() == 0
        await user.act("logout")
        assert await user.wait("onLogout", 2) == [108]
        assert await user.log() == [["onLoginSuccess", uid], ["onLogout", 101], ["onLogout", 108]]
        assert await user.ask("messageInstantSend", "bob", "hello") == [True, 1003]


@pytest.mark.parametrize(("token", "code"), [("wrong", 206), ("expired", 204), ("none", 206)])
async def test_a_token_that_is_not_good(stack: Stack, visit, token: str, code: int):
    app, account, now = stack.token_app, unique("web"), int(time.time())
    tokens = {
        "wrong": make_token(app.id, "0" * 32, account, now + 60),
        "expired": make_token(app.id, app.certificate, account, now - 10),
        "none": "_no_need_token",
    }
    async with visit(stack) as page:
        user = await WebUser.login(page, app, account, token=tokens[token])
        assert await user.wait("onLoginFailed") == [code]
        assert await user.status() == 0
        assert await user.log() == [["onLoginFailed", code]]


async def test_an_account_that_is_none(stack: Stack, visit):
    async with visit(stack) as page:
        user = await WebUser.login(page, stack.open_app, "two words")
        assert await user.wait("onLoginFailed") == [209]


async def test_an_unknown_app(stack: Stack, visit):
    async with visit(stack) as page:
        user = await WebUser.login(page, App(unique("noapp")), "anna")
        code, = await user.wait("onLoginFailed")
        assert 200 <= code <= 209


@pytest.mark.parametrize("second", ["page", "raw client"])
async def test_a_second_login_kicks_the_first(stack: Stack, visit, people, second: str):
    async with visit(stack) as page, people(stack) as cast:
        user = await WebUser.online(page, stack, room=unique("room"))
        if second == "page":
            newer = await WebUser.login(page, stack.open_app, user.account)
            await newer.wait("onLoginSuccess")
            assert await newer.status() == 2
        else:
            await cast.exactly(user.account).login(stack.gateways[0])
        assert await user.wait("onLogout") == [103]
        assert await user.seen("onChannelLeaved") == [[601]]
        assert await user.status() == 0


async def test_a_login_can_be_cancelled_while_no_gateway_answers(stack: Stack, visit):
    async with visit(stack) as page:
        user = await WebUser.login(page, stack.open_app, unique("web"), discovery="http://127.0.0.1:9")
        assert await user.status() == 1
        await user.act("logout")
        assert await user.wait("onLoginFailed") == [203]
        assert await user.log() == [["onLoginFailed", 203]]


async def test_the_login_is_given_up_when_no_gateway_answers(stack: Stack, visit):
    async with visit(stack) as page:
        user = await WebUser.login(page, stack.open_app, unique("web"), discovery="http://127.0.0.1:9")
        # The page's clock is set past the bound, so that the test need not wait.
        await page.evaluate("{ const now = Date.now; Date.now = () => now() + 30_000; }")
        assert await user.wait("onLoginFailed") == [201]


async def test_one_of_several_discovery_addresses_is_enough(stack: Stack, visit, only):
    async with visit(stack) as page:
        discovery = ["http://127.0.0.1:9", "http://127.0.0.1:9", only(stack.gateways[1]) + "/"]
        await WebUser.online(page, stack, discovery=discovery)


async def test_who_names_a_channel_goes_to_its_first_gateway(make_stack, visit, only):
    stack = make_stack(gateways=2)
    async with visit(stack) as page:
        for _ in range(5):
            user = await WebUser.login(
                page, stack.open_app, unique("web"), discovery=only(*stack.gateways), channel="a b&c")
            await user.wait("onLoginSuccess")
        # Without a channel, and at random, 1 time in 16 all would be at one gateway.
        counts = [lambda at=each["http"]: metric(at, "heliograph_gateway_connections") for each in stack.endpoints["gateways"]]
        await eventually(lambda: [count() for count in counts] == [5, 0], "all are at the first gateway")
        # The real discovery takes the name.
        user = await WebUser.login(page, stack.open_app, unique("web"), channel="a b&c")
        await user.wait("onLoginSuccess")


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A private key and its self-signed certificate, in one file."""
    return make_certificate(tmp_path)


async def test_secure_pages_use_the_next_port(
        make_stack, browser: Browser, certificate: Path, monkeypatch: pytest.MonkeyPatch, people):
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_TLS_CERTIFICATE", str(certificate))
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_TLS_KEY", str(certificate))
    stack = make_stack(gateways=1)
    site = Site(certificate)
    site.discovery = stack.endpoints["gateways"][0]["http"]
    try:
        async with browser.open(site.url + "/module") as page, people(stack) as cast:
            assert await page.evaluate("isSecureContext && location.protocol") == "https:"
            user = await WebUser.online(page, stack)
            raw, = await cast.login("raw")
            assert await user.ask("messageInstantSend", raw.account, "over TLS") == [False, 0]
            await eventually(raw.texts, "the message arrived")
    finally:
        site.close()
