"""The console: signing in, numbers, lists, panels, acts and the tail of events, by pointer and keyboard, at every width."""

from chromium import Browser
from screens import PHONE
from server_api import ServerAPI, create_key
from stack_control import Stack, unique
from views import choose, console, entrance, failing_webhook, go, only_one, open_user, press, sign_in
from waiting import eventually

VIEWS = ("users", "channels", "calls", "events", "bans", "webhooks", "before-hooks", "trunks", "audit", "processes")
NOBODY_SECONDS = 15 * 60


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
        await ada.logout()
        place = ("apps", stack.open_app.id, "users", ada.account, "messages")
        api = ServerAPI(stack, create_key(stack)["key"])
        assert api.post(*place, body={"from": "shop", "message": "for later"}).status == 200
        assert await screen.page.evaluate("document.querySelector('#app').disabled")
        assert not await screen.page.evaluate("[...document.querySelectorAll('[data-cluster]')].some((each) => each.checkVisibility())")
        for view in ("webhooks", "before-hooks", "trunks", "audit", "processes"):
            await screen.page.evaluate(f"location.hash = {view!r}")
            await screen.sees("Overview", "#view h1")
        assert await screen.page.evaluate("document.querySelector('#view table') === null")
        await open_user(screen, ada.account)
        await screen.sees("for later", "#panel")
        # Who may not act on it does not see the address.
        assert "Address" not in await screen.page.evaluate("document.querySelector('#panel .facts').innerText")
        # There is nothing to press but what closes the panel.
        assert await screen.page.evaluate("document.querySelectorAll('#panel form').length") == 0
        buttons = "[...document.querySelectorAll('#panel button')].filter((each) => each.checkVisibility()).map((each) => each.innerText)"
        assert await screen.page.evaluate(buttons) == ["Close"]
        await screen.check()


async def test_users_are_found_written_to_and_ended(stack: Stack, browser: Browser, people):
    async with console(stack, browser) as screen, people(stack) as cast:
        ada, bob = await cast.login("ada", "bob")
        await go(screen, "users")
        await choose(screen, "#view input[type=search]", ada.account)
        await only_one(screen)
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


async def test_a_users_page_shows_state_gateway_and_channels(stack: Stack, browser: Browser, people):
    room = unique("room")
    api = ServerAPI(stack, create_key(stack)["key"])
    facts = "Object.fromEntries([...document.querySelectorAll('#panel .facts dt')].map((each) => [each.innerText, each.nextSibling.innerText]))"
    async with console(stack, browser) as screen, people(stack) as cast:
        ada, = await cast.members(room, "ada")
        await open_user(screen, ada.account)
        told = api.get("apps", stack.open_app.id, "users", ada.account).body
        shown = await screen.page.evaluate(facts)
        assert (shown["State"], shown["Gateway"], shown["Channels"]) == ("connected", told["gateway"], room)
        assert shown["Uid"] == str(told["uid"]) and shown["Online for"] != "–"
        assert told["address"] and shown["Address"] == told["address"]
        await press(screen, room, "#panel")
        await screen.sees("Members (1)", "#panel")
        await press(screen, ada.account, "#panel .chips")
        await screen.sees(ada.account, "#panel-title")
        await ada.logout()
        await open_user(screen, ada.account)
        shown = await screen.page.evaluate(facts)
        assert [shown[name] for name in ("State", "Gateway", "Address", "Online for", "Channels")] == ["offline", "–", "–", "–", "–"]


async def test_a_mailbox_is_listed_recalled_from_and_emptied(stack: Stack, browser: Browser, people):
    api = ServerAPI(stack, create_key(stack)["key"])
    rows = "[...document.querySelectorAll('#panel .feed[aria-label=Mailbox] li')].map((each) => each.innerText)"
    async with console(stack, browser) as screen, people(stack) as cast:
        bob, = await cast.login("bob")
        await bob.logout()
        place = ("apps", stack.open_app.id, "users", bob.account)
        texts = [f"<i>{number}</i>" for number in range(22)] + ["long " * 100]
        for text in texts:
            assert api.post(*place, "messages", body={"from": "shop", "message": text}).status == 200
        await open_user(screen, bob.account)
        await screen.sees("Mailbox (23)", "#panel")
        shown = await screen.page.evaluate(rows)
        assert len(shown) == 20 and all(text in row and "shop" in row for text, row in zip(texts, shown, strict=False))
        await press(screen, "More", "#panel")
        await screen.page.eventually(f"{rows}.length === 23", "the rest is shown")
        await screen.check()
        # Recalling asks first, and "No" has the focus.
        await press(screen, "Recall the message of shop", "#panel")
        await screen.sees("Recall it?", "#panel")
        await screen.check()
        await screen.picture("console-desktop-mailbox")
        await screen.press("Enter")
        await screen.page.eventually("document.activeElement.textContent === 'Recall'", "nothing is recalled")
        assert api.get(*place, "mailbox").body["count"] == 23
        await screen.press("Enter")
        await press(screen, "Yes, recall", "#panel")
        await screen.sees("The message is recalled", "#note")
        await screen.sees("Mailbox (22)", "#panel")
        assert texts[0] not in " ".join(await screen.page.evaluate(rows))
        assert [message["message"] for message in api.get(*place, "mailbox").body["messages"]] == texts[1:]
        # One that was delivered meanwhile cannot be, and the page says so.
        await cast.exactly(bob.account).login(stack.gateways[0])
        await press(screen, "Recall the message of shop", "#panel")
        await press(screen, "Yes, recall", "#panel")
        await screen.page.eventually("document.querySelector('#note').className === 'note bad'", "the page says that it is too late")
        await screen.sees("the user's session has the message", "#note")


async def test_a_mailbox_is_emptied(stack: Stack, browser: Browser, people):
    api = ServerAPI(stack, create_key(stack)["key"])
    async with console(stack, browser) as screen, people(stack) as cast:
        bob, = await cast.login("bob")
        await bob.logout()
        await open_user(screen, bob.account)
        await screen.sees("nothing waits", "#panel")
        # What the panel sends waits too.
        for count in (1, 2):
            await choose(screen, "#panel [name=message]", "until tomorrow")
            await press(screen, "Send", "#panel")
            await screen.sees(f"Mailbox ({count})", "#panel")
        await press(screen, "Empty the mailbox", "#panel")
        await press(screen, "No", "#panel")
        assert api.get("apps", stack.open_app.id, "users", bob.account, "mailbox").body["count"] == 2
        await press(screen, "Empty the mailbox", "#panel")
        await press(screen, "Yes, empty", "#panel")
        await screen.sees("nothing waits", "#panel")
        assert api.get("apps", stack.open_app.id, "users", bob.account, "mailbox").body["count"] == 0
        assert await screen.page.evaluate("document.querySelector('#panel').contains(document.activeElement)")
        await screen.check()


async def test_a_channels_history_is_read_backwards(stack: Stack, browser: Browser, people):
    room = unique("room")
    rows = "[...document.querySelectorAll('#panel .feed[aria-label=History] li')].map((each) => each.innerText)"
    async with console(stack, browser, size=PHONE, theme="dark") as screen, people(stack) as cast:
        ada, bob = await cast.members(room, "ada", "bob")
        for number in range(20):
            await ada.say(room, f"<u>{number}</u>")
        await ada.call("channel_set_attr", channel=room, name="topic", value="tea")
        await bob.leave(room)
        await go(screen, "channels")
        await choose(screen, "#view input[type=search]", room)
        await only_one(screen)
        await press(screen, room)
        await screen.sees("History", "#panel")
        shown = await screen.page.evaluate(rows)
        assert len(shown) == 20 and shown[0].startswith("leave") and bob.account in shown[0]
        assert "topic is tea" in shown[1] and "<u>19</u>" in shown[2] and "<u>2</u>" in shown[-1]
        await press(screen, "Older", "#panel")
        await screen.page.eventually(f"{rows}.length === 24", "what came before is shown")
        shown = await screen.page.evaluate(rows)
        assert [row.split()[0] for row in shown[-4:]] == ["message", "message", "join", "join"] and ada.account in shown[-1]
        await screen.sees("that is all", "#panel")
        await screen.check()
        await screen.picture("console-phone-history")
        # What is sent from here comes first.
        await choose(screen, "#panel [name=message]", "from the console")
        await press(screen, "Send", "#panel")
        await screen.page.eventually(f"{rows}[0].includes('from the console')", "the message is shown")


async def test_a_channel_with_members_and_attributes(stack: Stack, browser: Browser, people):
    room = unique("room with spaces")
    async with console(stack, browser) as screen, people(stack) as cast:
        ada, bob = await cast.members(room, "ada", "bob")
        await ada.call("channel_set_attr", channel=room, name="topic", value="<b>tea</b>")
        await go(screen, "channels")
        await choose(screen, "#view input[type=search]", room)
        await only_one(screen)
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
        for kind in ("gateway", "presence", "channel-state", "invitation", "sip-bridge"):
            await screen.sees(kind, "#view tbody")
        # Each with its kind, version and how long it runs.
        running = ServerAPI(stack, create_key(stack)["key"]).get("processes").body["processes"]
        shown = await screen.page.evaluate(
            "[...document.querySelectorAll('#view tbody tr')].map((row) => [...row.children].map((cell) => cell.innerText))")
        assert sorted((row[0], row[1], row[3]) for row in shown) == sorted((each["id"], each["kind"], each["version"]) for each in running)
        assert all(row[2].endswith(("s", "min", "h")) and row[2][0].isdigit() for row in shown)
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
        await only_one(screen)
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
        await only_one(screen)
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
        failing_webhook(stack, app.id)
        stack.control("trunk", "set", app.id, "sip.example.com:5061", "--transport=tls", "--allow=none")
        # Nobody logs in any more, so that it is never asked.
        stack.control("hook", "set", app.id, f"https://{app.id}.example.com/ask", "--on", "login")
        for name, how in {"desktop": {}, "dark": {"theme": "dark"}, "phone": {"size": PHONE}}.items():
            async with console(stack, browser, app=app.id, **how) as screen:
                await screen.page.eventually("document.querySelectorAll('.tile .stroke').length > 8", "there are charts", 30)
                await screen.check()
                await screen.picture(f"console-{name}-overview")
                await screen.page.evaluate("scrollTo(0, document.body.scrollHeight)")
                await screen.picture(f"console-{name}-overview-below")
                for view in VIEWS:
                    await go(screen, view)
                    if view not in ("events", "bans"):
                        await screen.page.eventually("document.querySelectorAll('#view tbody tr').length > 0", "there are rows")
                    await screen.check()
                    await screen.picture(f"console-{name}-{view}")
