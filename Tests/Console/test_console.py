"""The console: signing in, numbers, lists, panels, acts and the tail of events, by pointer and keyboard, at every width."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from chromium import Browser
from screens import PHONE, Screen, opened
from server_api import ServerAPI, create_key
from stack_control import Stack, unique
from waiting import eventually

VIEWS = ("users", "channels", "calls", "events", "bans", "processes")
NOBODY_SECONDS = 15 * 60


@asynccontextmanager
async def entrance(stack: Stack, browser: Browser, **how) -> AsyncIterator[Screen]:
    """The page before signing in."""
    async with opened(browser, f"{stack.endpoints['api'][0]}/console/", **how) as screen:
        yield screen


async def sign_in(screen: Screen, key: str, *, keep: bool = False) -> None:
    await screen.page.evaluate(
        f"document.querySelector('#key').value = {key!r}, document.querySelector('#keep').checked = {str(keep).lower()}, "
        "document.querySelector('#sign-in button').click()")


@asynccontextmanager
async def console(stack: Stack, browser: Browser, key: str = "", app: str = "", **how) -> AsyncIterator[Screen]:
    """The console with a key of the cluster, unless another one is given, on the open app."""
    async with entrance(stack, browser, **how) as screen:
        await sign_in(screen, key or create_key(stack)["key"])
        await screen.sees("Overview", "#view h1")
        if not key:
            await choose(screen, "#app", app or stack.open_app.id)
        yield screen


async def choose(screen: Screen, selector: str, value: str) -> None:
    """Chooses or types a value as a person does."""
    await screen.page.evaluate(
        f"{{ const field = document.querySelector({selector!r}); field.value = {value!r}; "
        "for (const name of ['input', 'change']) field.dispatchEvent(new Event(name, { bubbles: true })); }")


async def go(screen: Screen, view: str) -> None:
    await screen.page.evaluate(f"location.hash = {view!r}")
    await screen.sees(view.capitalize(), "#view h1")


async def press(screen: Screen, text: str, within: str = "#view") -> None:
    """Presses the button with this text or label."""
    button = f"[...document.querySelectorAll('{within} button')].find((each) => [each.textContent, each.ariaLabel].includes({text!r}))"
    await screen.page.eventually(f"{button}?.disabled === false", f"{text} can be pressed")
    await screen.page.evaluate(f"{button}.click()")


async def test_wrong_keys_and_signing_out(stack: Stack, browser: Browser):
    key = create_key(stack)["key"]
    async with entrance(stack, browser) as screen:
        await screen.check()
        assert await screen.page.evaluate("document.activeElement.id") == "key"
        await sign_in(screen, key[:-1] + ("0" if key[-1] != "0" else "1"))
        await screen.sees("This key is not valid.", "#sign-in-problem")
        await sign_in(screen, key)
        await screen.sees("Overview", "#view h1")
        # The page holds it nowhere where it could be read, and a reload forgets it.
        assert key not in await screen.page.evaluate(
            "document.documentElement.outerHTML + JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie]) "
            "+ [...document.querySelectorAll('input')].map((each) => each.value)")
        await screen.page.evaluate("document.querySelector('#sign-out').click()")
        await screen.page.eventually("document.querySelector('#inside').hidden", "the console is closed")
        assert await screen.page.evaluate("document.querySelector('#view').childElementCount") == 0


async def test_a_key_that_is_kept_for_the_tab_ends_when_nobody_is_there(stack: Stack, browser: Browser):
    async with entrance(stack, browser) as screen:
        await sign_in(screen, create_key(stack)["key"], keep=True)
        await screen.sees("Overview", "#view h1")
        await screen.page.load(f"{stack.endpoints['api'][0]}/console/#users")
        await screen.sees("Users", "#view h1")
        await screen.page.evaluate(f"{{ const now = Date.now; Date.now = () => now() + {NOBODY_SECONDS * 1000}; }}")
        await screen.sees("Signed out after 15 minutes", "#sign-in-problem")
        assert await screen.page.evaluate("sessionStorage.getItem('heliograph-key')") is None


async def test_a_revoked_key_ends_the_session(stack: Stack, browser: Browser):
    made = create_key(stack)
    async with console(stack, browser, made["key"]) as screen:
        stack.control("key", "revoke", made["id"])
        await screen.sees("The key is not valid any more.", "#sign-in-problem")


async def test_a_key_of_an_app_that_may_only_read(stack: Stack, browser: Browser, people):
    key = create_key(stack, app=stack.open_app.id, scopes=("read",))["key"]
    async with console(stack, browser, key) as screen, people(stack) as cast:
        ada, = await cast.login("ada")
        assert await screen.page.evaluate("document.querySelector('#app').disabled")
        assert not await screen.page.evaluate("document.querySelector('[data-cluster]').checkVisibility()")
        await go(screen, "users")
        await choose(screen, "#view input[type=search]", ada.account)
        await screen.sees(ada.account, "#view tbody")
        await press(screen, ada.account)
        await screen.sees("Attributes", "#panel")
        assert await screen.page.evaluate("document.querySelectorAll('#panel form').length") == 0
        await screen.check()


async def test_users_are_found_written_to_and_ended(stack: Stack, browser: Browser, people):
    async with console(stack, browser) as screen, people(stack) as cast:
        ada, bob = await cast.login("ada", "bob")
        await go(screen, "users")
        await choose(screen, "#view input[type=search]", ada.account)
        await screen.sees("1 in all", "#view .more")
        assert bob.account not in await screen.page.evaluate("document.querySelector('#view').innerText")
        await press(screen, ada.account)
        await screen.sees("gateway", "#panel .facts")
        await screen.check()
        await choose(screen, "#panel [name=message]", "from the console")
        await press(screen, "Send", "#panel")
        await eventually(lambda: ada.texts() == ["from the console"], "the message arrived")
        await choose(screen, "#panel [name=name]", "plan")
        await choose(screen, "#panel [name=value]", "pro")
        await press(screen, "Set", "#panel")
        await screen.sees("plan", "#panel .pairs")
        await press(screen, "Delete plan", "#panel")
        await screen.sees("none", "#panel .pairs")
        await press(screen, "Disconnect", "#panel")
        await eventually(ada.closed.is_set, "the session is over")
        await screen.sees("offline", "#panel")


async def test_a_channel_with_members_and_attributes(stack: Stack, browser: Browser, people):
    room = unique("room with spaces")
    async with console(stack, browser) as screen, people(stack) as cast:
        ada, bob = await cast.members(room, "ada", "bob")
        await ada.call("channel_set_attr", channel=room, name="topic", value="<b>tea</b>")
        await go(screen, "channels")
        await choose(screen, "#view input[type=search]", room)
        await screen.sees("1 in all", "#view .more")
        await press(screen, room)
        await screen.sees("Members (2)", "#panel")
        # Text of users stays text.
        await screen.sees("<b>tea</b>", "#panel .pairs")
        await choose(screen, "#panel [name=message]", "to everybody")
        await press(screen, "Send", "#panel")
        await eventually(lambda: bob.of_type("channel_msg"), "the message arrived")
        await press(screen, ada.account, "#panel")
        await screen.sees(ada.account, "#panel-title")


async def test_calls_and_processes(stack: Stack, browser: Browser, people):
    async with console(stack, browser) as screen, people(stack) as cast:
        ada, bob = await cast.login("ada", "bob")
        await ada.act("invite", unique("call"), bob.account, "")
        await go(screen, "calls")
        await screen.page.eventually(
            f"document.querySelector('#view tbody').innerText.includes({ada.account!r}) "
            "|| ([...document.querySelectorAll('#view header button')].at(-1).click(), false)", "the call is listed")
        await screen.sees("inviting", "#view tbody")
        await screen.check()
        await go(screen, "processes")
        for kind in ("gateway", "presence", "channel-state", "invitation"):
            await screen.sees(kind, "#view tbody")
        await screen.check()


async def test_the_numbers_are_those_of_the_cluster(stack: Stack, browser: Browser, people):
    app = stack.create_app(unique("numbers"))
    api = ServerAPI(stack, create_key(stack)["key"])
    async with console(stack, browser, app=app.id) as screen, people(stack) as cast:
        for name in ("ada", "bob", "cleo"):
            await cast.login(name, app=app)
        tile = "[...document.querySelectorAll('.tile')].find((each) => each.ariaLabel === '{}').querySelector('.number').innerText"
        await screen.page.eventually(f"{tile.format('Users online')} === '3 of 3'", "three users are online")
        await screen.page.eventually(f"{tile.format('Redis')} === 'connected'", "the gateway's numbers are shown")
        text = api.session.get(f"{api.url}/v1/metrics", headers={"Authorization": f"Bearer {api.key}"}).text
        assert "heliograph_gateway_connections " in text and "# TYPE" in text
        await screen.page.eventually(
            "document.querySelectorAll('.tile .stroke').length > 8", "the numbers have become charts", 30)
        await screen.check()


async def test_the_tail_of_events(stack: Stack, browser: Browser, people):
    room = unique("room")
    async with console(stack, browser) as screen, people(stack) as cast:
        await go(screen, "events")
        await screen.sees("live", "#view header")
        ada, bob = await cast.members(room, "ada", "bob")
        await screen.sees(ada.account, ".tail")
        await screen.sees(room, ".tail")
        await choose(screen, "#view input[type=search]", bob.account)
        rows = "[...document.querySelectorAll('.tail li')].filter((each) => each.checkVisibility()).map((each) => each.innerText)"
        await screen.page.eventually(
            f"{rows}.length === 2 && {rows}.every((row) => row.includes({bob.account!r}))", "only bob's events are shown")
        await press(screen, "Hold")
        await bob.leave(room)
        # What another page shows, this one has been told, give or take half a second.
        async with console(stack, browser) as other:
            await go(other, "events")
            await other.sees("live", "#view header")
            await bob.logout()
            await other.sees("logged out", ".tail")
        assert len(await screen.page.evaluate(rows)) == 2
        await press(screen, "Go on")
        await screen.page.eventually(f"{rows}.length === 4 && {rows}[0].includes('logged out')", "what was held is shown")
        await screen.check()


async def test_a_ban_and_its_end(stack: Stack, browser: Browser, people):
    app = stack.create_app(unique("bans"))
    async with console(stack, browser, app=app.id) as screen, people(stack) as cast:
        ada, = await cast.login("ada", app=app)
        await go(screen, "users")
        await choose(screen, "#view input[type=search]", ada.account)
        await screen.sees("1 in all", "#view .more")
        await press(screen, ada.account)
        await screen.sees("Ban", "#panel")
        await choose(screen, "#panel [name=reason]", "spam")
        await press(screen, "Ban", "#panel")
        await screen.sees("Unban", "#panel")
        await eventually(ada.closed.is_set, "the session is over")
        await screen.page.evaluate("document.querySelector('#panel').close()")
        await go(screen, "bans")
        await screen.sees(ada.account, "#view tbody")
        await screen.sees("spam", "#view tbody")
        await screen.check()
        await press(screen, f"Unban {ada.account}")
        await screen.sees("is not banned any more", "#note")


async def test_by_keyboard(stack: Stack, browser: Browser, people):
    async with entrance(stack, browser) as screen, people(stack) as cast:
        ada, = await cast.login("ada")
        await screen.press(create_key(stack, app=stack.open_app.id)["key"], "Enter")
        await screen.sees("Overview", "#view h1")
        assert await screen.page.evaluate("document.activeElement.id") == "view"
        await screen.page.evaluate("document.querySelector('#views a[href=\"#users\"]').focus()")
        await screen.press("Enter")
        await screen.sees("Users", "#view h1")
        await screen.page.evaluate("document.querySelector('#view input').focus()")
        await screen.press(ada.account)
        await screen.sees("1 in all", "#view .more")
        await screen.page.evaluate("document.querySelector('#view td button').focus()")
        await screen.press("Enter")
        await screen.sees("Session", "#panel")
        assert await screen.page.evaluate("document.querySelector('#panel').contains(document.activeElement)")
        await screen.press("Escape")
        await screen.page.eventually("!document.querySelector('#panel').open", "the panel is closed")
        assert await screen.page.evaluate("document.activeElement.textContent") == ada.account


async def test_it_looks_well(stack: Stack, browser: Browser, people):
    app = stack.create_app(unique("shop").split("-")[0] + unique("-")[1:5])
    async with people(stack) as cast:
        members = []
        for name in ("ada", "bob", "cleo", "dan", "eve", "finn", "gwen", "hugo"):
            member, = await cast.login(name, app=app)
            members.append(member)
            await member.join("support" if len(members) % 3 else "lobby")
        await members[0].act("invite", "room 1", members[1].account, "")
        for name, how in {"desktop": {}, "dark": {"theme": "dark"}, "phone": {"size": PHONE}}.items():
            async with console(stack, browser, app=app.id, **how) as screen:
                await screen.page.eventually("document.querySelectorAll('.tile .stroke').length > 8", "there are charts", 30)
                await screen.check()
                await screen.picture(f"console-{name}-overview")
                for view in VIEWS:
                    await go(screen, view)
                    if view not in ("events", "bans"):
                        await screen.page.eventually("document.querySelectorAll('#view tbody tr').length > 0", "there are rows")
                    await screen.check()
                    await screen.picture(f"console-{name}-{view}")
