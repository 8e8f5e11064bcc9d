"""The playground: two users on one page, the wire, the code of each step."""

import re
from pathlib import Path

from agorasigsdk.call import Call
from agorasigsdk.channel import Channel
from agorasigsdk.login_session import LoginSession
from chromium import Browser
from columns import Columns, playground
from screens import DESK, PHONE
from stack_control import Stack, unique

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = """(async () => {
    const { EXAMPLES } = await import("/playground/examples.js");
    const values = {
        app: "demo", account: "ada", token: "t", origin: location.origin, gateway: '("127.0.0.1", 1)', channel: "tea", peer: "bob", text: "hello",
        name: "topic", value: "tea", extra: "{}", digits: "1"};
    return Object.entries(EXAMPLES).map(([name, make]) => ({ name, ...make(values) }));
})()"""


async def code(columns: Columns, language: str) -> str:
    await columns.page.evaluate(f"document.querySelector('#tab-{language}').click()")
    return await columns.page.evaluate("document.querySelector('#code').textContent")


async def test_two_users_talk_call_and_lose_the_network(stack: Stack, browser: Browser):
    room, ada, bob = unique("tea"), unique("ada"), unique("bob")
    async with playground(stack, browser) as users:
        await users.screen.check()
        await users.login(0, ada, room)
        await users.login(1, bob, room)
        await users.sees(0, f"{bob} joined")
        await users.fill(0, "Message", "hello everybody")
        await users.press(0, "Send")
        await users.sees(1, "hello everybody")
        assert await users.page.evaluate("document.querySelector('#step').textContent") == (
            f"{ada} sends a message to all members of {room}.")
        assert 'channel.messageChannelSend("hello everybody"' in await code(users, "browser")
        assert f'.send("hello everybody", to: "{room}")' in await code(users, "swift")
        assert 'channel.msg_channel_send("hello everybody")' in await code(users, "python")
        await users.fill(1, "To", f"user:{ada}")
        await users.fill(1, "Message", "only for you")
        await users.press(1, "Send")
        await users.sees(0, "only for you")
        await users.fill(0, "Value", "darjeeling")
        await users.press(0, "Set")
        await users.sees(1, "topic = darjeeling")
        await users.press(0, "Delete")
        await users.sees(1, "topic is deleted")
        await users.fill(0, "User or telephone", bob)
        await users.press(0, "Call")
        await users.sees(1, f"{ada} is calling")
        await users.sees(0, f"it rings at {bob}")
        await users.press(1, "Accept")
        await users.sees(0, f"talking with {bob}")
        await users.press(0, "Send digits")
        await users.sees(1, f"digits from {ada}: 12#")
        await users.screen.check()
        await users.press(1, "End")
        await users.sees(0, f"{bob} has ended the call")
        # What is sent while the network is cut arrives once it is back.
        await users.press(1, "Cut the network")
        await users.sees(1, "reconnecting 2")
        await users.fill(0, "Message", "while you were away")
        await users.press(0, "Send")
        await users.sees(0, "while you were away")
        await users.press(1, "Restore the network")
        await users.sees(1, "the session was resumed")
        await users.sees(1, "while you were away")
        await users.press(1, "Log out")
        await users.sees(0, f"{bob} left")
        await users.screen.check()


async def test_the_wire_is_shown_without_secrets(stack: Stack, browser: Browser):
    app, account = stack.token_app, unique("ada")
    token = app.token(account)
    async with playground(stack, browser, app.id) as users:
        await users.fill(0, "Token", token)
        await users.login(0, account, unique("tea"))
        await users.page.evaluate("for (const each of document.querySelectorAll('#frames details')) each.open = true")
        shown = "[...document.querySelectorAll('#frames > li:not([hidden])')].map((each) => each.querySelector('.what').textContent)"
        await users.page.eventually(f"{shown}.includes('channel_join answer')", "the answer is shown")
        assert set(await users.page.evaluate(shown)) >= {"login", "login_ret", "channel_join", "channel_join answer"}
        text = await users.page.evaluate("document.querySelector('#frames').textContent")
        assert account in text and token not in text and token[:6] in text
        line = await users.page.evaluate("performance.now() && document.querySelector('#frames').textContent.match(/\"line\": \"([^\"]*)\"/)[1]")
        assert line.endswith("…") and len(line) < 8
        await users.page.evaluate("document.querySelector('#wire-clear').click()")
        assert await users.page.evaluate("document.querySelector('#frames').childElementCount") == 0


async def test_the_code_of_every_step_names_what_the_clients_have(stack: Stack, browser: Browser):
    swift = "".join(path.read_text() for path in (ROOT / "Shared" / "SignalingClient").rglob("*.swift"))
    web = (ROOT / "Clients" / "web" / "heliograph.js").read_text()
    python = {"session": LoginSession, "channel": Channel, "call": Call}
    async with playground(stack, browser) as users:
        examples = await users.page.evaluate(EXAMPLES)
    assert len(examples) == 14
    for example in examples:
        for name in re.findall(r"\bada\.(\w+)", example["swift"]):
            assert re.search(rf"(func|let) {name}\b", swift), (example["name"], name)
        for name in re.findall(r"\b(?:session|channel|call)\.(\w+)", example["browser"]):
            assert re.search(rf"^    {name}\b", web, re.MULTILINE), (example["name"], name)
        compile(example["python"], example["name"], "exec")
        for owner, name in re.findall(r"\b(session|channel|call)\.(\w+)\(", example["python"]):
            assert hasattr(python[owner], name), (example["name"], name)
        for name in re.findall(r"def (on_\w+)", example["python"]):
            callbacks = (LoginSession.LoginCallback, Channel.ChannelCallback, Call.CallCallback)
            assert any(hasattr(each, name) for each in callbacks), (example["name"], name)


async def test_an_app_that_does_not_exist_and_none(stack: Stack, browser: Browser):
    async with playground(stack, browser, "nothing-of-the-kind") as users:
        await users.press(0, "Log in")
        await users.sees(0, "the login failed (2")
        await users.page.evaluate("document.querySelector('#app').value = ''")
        await users.press(0, "Log in")
        await users.screen.sees("Which app?", "#note")
        assert await users.page.evaluate("document.activeElement.id") == "app"


async def test_by_keyboard(stack: Stack, browser: Browser):
    async with playground(stack, browser) as users:
        await users.screen.press("Tab")
        assert await users.page.evaluate("document.activeElement.className") == "skip"
        await users.screen.press("Enter")
        assert await users.page.evaluate("document.activeElement.id") == "people"
        # The account's field, the token's, the button.
        account = unique("keys")
        await users.page.evaluate("document.querySelector('.person input').focus(), document.activeElement.select()")
        await users.screen.press(account, "Tab", "Tab", "Enter")
        await users.sees(0, "logged in, uid")
        await users.page.evaluate("document.querySelector('#tab-browser').focus()")
        await users.screen.press("ArrowRight")
        assert await users.page.evaluate("document.activeElement.id") == "tab-swift"
        await users.screen.sees("import SignalingClient", "#code")


async def test_it_looks_well(stack: Stack, browser: Browser):
    for name, how in {
        "playground-desktop": {}, "playground-dark": {"theme": "dark"}, "playground-phone": {"size": PHONE},
    }.items():
        room = unique("tea").split("-")[0]
        suffix = unique("x")[2:5]
        async with playground(stack, browser, **how) as users:
            for column, account in enumerate((f"ada.{suffix}", f"bob.{suffix}")):
                await users.login(column, account, f"{room}-{suffix}")
            for column, text in ((0, "The kettle is on."), (1, "On my way, two minutes"), (0, "No hurry")):
                await users.fill(column, "To", "channel")
                await users.fill(column, "Message", text)
                await users.press(column, "Send")
                await users.sees(1 - column, text)
            await users.fill(0, "User or telephone", f"bob.{suffix}")
            await users.press(0, "Call")
            await users.sees(0, "it rings at")
            await users.screen.check()
            await users.screen.picture(name)
            await users.page.evaluate("scrollTo(0, document.body.scrollHeight)")
            await users.screen.picture(f"{name}-below")


async def test_more_users_than_fit(stack: Stack, browser: Browser):
    async with playground(stack, browser, size=DESK) as users:
        for _ in range(7):
            await users.page.evaluate("document.querySelector('#setup button').click()")
        await users.screen.sees("Up to 8 users fit on this page", "#note")
        assert await users.page.evaluate("document.querySelectorAll('.person').length") == 8
        await users.press(7, "Remove")
        assert await users.page.evaluate("document.querySelectorAll('.person').length") == 7
