"""What operators look for in the console: webhooks, before-hooks, trunks, the audit trail, and all gateways."""

import pytest
from chromium import Browser
from screens import PHONE, Screen
from server_api import ServerAPI, create_key
from stack_control import Stack, unique
from views import choose, console, failing_webhook, go, press

ROWS = (
    "[...document.querySelectorAll('#view tbody tr')].map((row) => [...row.children].filter((each) => each.checkVisibility())"
    ".map((each) => each.innerText))")
FACTS = "Object.fromEntries([...document.querySelectorAll('#panel .facts dt')].map((each) => [each.innerText, each.nextSibling.innerText]))"


async def row_of(screen: Screen, text: str) -> list[str]:
    """The row that begins with a text, once it is shown."""
    await screen.page.eventually(f"{ROWS}.some((row) => row[0] === {text!r})", f"there is a row of {text}")
    return await screen.page.evaluate(f"{ROWS}.find((row) => row[0] === {text!r})")


async def test_a_failing_webhook_stands_out(stack: Stack, browser: Browser):
    app, quiet = (stack.create_app(unique("hooks")).id for _ in range(2))
    failing_webhook(stack, app)
    stack.control("webhook", "set", quiet, "https://example.com/")
    stack.control("webhook", "set", quiet, "https://archive.example.com/", "--name=archive")
    async with console(stack, browser, app=app) as screen:
        await go(screen, "webhooks")
        row = await row_of(screen, app)
        assert row == [app, "failing", "1 h", "7", "1 h", "2", "the receiver answered 503", f"https://{app}.example.com/hook"]
        assert (await row_of(screen, quiet))[1:6] == ["new", "–", "0", "–", "0"]
        assert (await row_of(screen, f"{quiet}/archive"))[7] == "https://archive.example.com/"
        colours = (
            f"[...document.querySelectorAll('#view tbody tr')].find((each) => each.innerText.includes({{!r}}))"
            ".querySelectorAll('.badge.bad').length")
        assert await screen.page.evaluate(colours.format(app)) == 3
        assert await screen.page.evaluate(colours.format(quiet)) == 0
        await screen.check()
        # By keyboard: the panel opens, and gives the focus back.
        await screen.page.evaluate(f"[...document.querySelectorAll('#view td button')].find((each) => each.innerText === {app!r}).focus()")
        await screen.press("Enter")
        await screen.sees("What waits", "#panel")
        shown = await screen.page.evaluate(FACTS)
        assert (shown["State"], shown["Kinds"], shown["Events"], shown["Dead letters"]) == ("failing", "join, leave", "7", "2")
        assert (shown["Requests"], shown["Last error"]) == ("12", "the receiver answered 503")
        assert "secret" not in await screen.page.evaluate("document.documentElement.outerHTML")
        await screen.check()
        await screen.press("Escape")
        assert await screen.page.evaluate("document.activeElement.innerText") == app


async def test_before_hooks_and_whose_servers_are_left_alone(stack: Stack, browser: Browser):
    app, quiet = (stack.create_app(unique("asks")).id for _ in range(2))
    stack.control(
        "hook", "set", app, f"https://{app}.example.com/ask?key=query-word", "--secret=secret-of-the-hook", "--on", "login", "send",
        "--deadline=1500", "--requests=9", "--fail-open", "--refuse-busy")
    stack.control("hook", "set", quiet, "https://example.com/", "--on", "join")
    async with console(stack, browser, app=app) as screen:
        await go(screen, "before-hooks")
        assert await row_of(screen, app) == [app, "asked", "login, send", "goes on", "1,500 ms", f"https://{app}.example.com/ask"]
        assert (await row_of(screen, quiet))[1:4] == ["asked", "join", "refused"]
        await screen.check()
        # One gateway has met with failures: what the API then says, without waiting for them.
        await screen.page.evaluate(
            "{ const ask = window.fetch; window.told = null; window.fetch = async (target, ...more) => { const answer = await ask(target, ...more); "
            "if (!/v1.processes$/.test(target)) return answer; const body = await answer.json(); "
            "const [first, ...others] = body.processes.filter(({ kind }) => kind === 'gateway'); "
            f"first.openHooks = [{app!r}]; if (window.told) for (const each of [first, ...others]) each.openHooks = window.told(each); "
            "window.failing = first.id; return new Response(JSON.stringify(body)); }; }")
        await press(screen, "Refresh")
        await screen.page.eventually(f"{ROWS}.some((row) => row[0] === {app!r} && row[1] === 'left alone')", "the failing one stands out")
        assert (await row_of(screen, quiet))[1] == "asked"
        await press(screen, app)
        await screen.sees("Left alone by", "#panel")
        shown = await screen.page.evaluate(FACTS)
        assert shown["Gateway"].startswith(await screen.page.evaluate("window.failing"))
        assert (shown["State"], shown["Questions at once"], shown["Beyond that"]) == ("left alone", "9 of each event loop", "refused")
        await screen.check()
        await screen.press("Escape")
        # Gateways that do not tell, and one that names as many as it may.
        for told in ("() => null", "() => Array.from({ length: 16 }, (_, index) => `other${index}`)"):
            await screen.page.evaluate(f"window.told = {told}")
            await press(screen, "Refresh")
            await screen.page.eventually(f"{ROWS}.some((row) => row[0] === {app!r} && row[1] === 'unknown')", "nothing is claimed")
            await screen.page.evaluate("window.told = () => []")
            await press(screen, "Refresh")
            await screen.page.eventually(f"{ROWS}.some((row) => row[0] === {app!r} && row[1] === 'asked')", "it is asked again")
        page = await screen.page.evaluate("document.documentElement.outerHTML")
        assert "query-word" not in page and "secret-of-the-hook" not in page


REFUSED = "the-registrar-refuses-this-bridge"


async def test_trunks_without_their_passwords(stack: Stack, browser: Browser):
    app, quiet = (stack.create_app(unique("trunk")).id for _ in range(2))
    stack.control("trunk", "set", quiet, "sip.example.com", "--allow=none")
    login = ("--user=trunk-user", "--secret=trunk-word", "--register")
    stack.control("trunk", "set", app, "sip.example.com:5071", "--transport=tcp", "--allow=none", *login)
    # As bridges tell it, for an hour.
    stack.sql(f"""
        INSERT INTO sip_registrations (app, bridge, state, status, ends_at) VALUES
        ('{app}', 'a-registered', 'registered', NULL, now() + interval '1 hour'),
        ('{app}', '{REFUSED}', 'refused', 403, now() + interval '1 hour'),
        ('{app}', 'a-dead', 'unanswered', NULL, now() - interval '1 second')""")
    async with console(stack, browser, app=app) as screen:
        await go(screen, "trunks")
        assert (await row_of(screen, app))[:5] == [app, "refused", "sip.example.com:5071", "tcp", "off"]
        assert (await row_of(screen, quiet))[:2] == [quiet, "not asked for"]
        await screen.page.evaluate(f"[...document.querySelectorAll('#view td button')].find((each) => each.innerText === {app!r}).click()")
        await screen.sees(f"Sip-bridge {REFUSED}", "#panel")
        await screen.sees("403", "#panel")
        await screen.sees("a-registered", "#panel")
        assert not await screen.page.evaluate("document.querySelector('#panel').innerText.includes('a-dead')")
        await screen.check()
        await screen.press("Escape")
        page = await screen.page.evaluate("document.documentElement.outerHTML")
        assert "trunk-user" not in page and "trunk-word" not in page
        await screen.check()
        stack.control("trunk", "set", app, "[2001:db8::1]:5060", "--transport=udp", "--allow=none")
        await press(screen, "Refresh")
        await screen.page.eventually(f"{ROWS}.some((row) => row[2] === '[2001:db8::1]:5060')", "the address is shown")


async def test_the_audit_trail_by_app_and_page(stack: Stack, browser: Browser):
    app = stack.create_app(unique("trail")).id
    key = create_key(stack, app=app)
    acting = ServerAPI(stack, key["key"])
    for number in range(101):
        path = ("apps", app, "users", f"user{number}", "ban")
        assert acting.put(*path, body={"seconds": 60, "reason": f"<b>{number}</b>"}).status == 200
    async with console(stack, browser, app=app) as screen:
        await go(screen, "audit")
        await screen.sees("user.ban", "#view tbody")
        # Of all apps: other tests' too.
        await screen.sees("the first 100", "#view .more")
        await choose(screen, "#view input[type=search]", app)
        await screen.page.eventually(f"{ROWS}.length === 100 && {ROWS}.every((row) => row[2] === {app!r})", "only the app's are shown")
        first = (await screen.page.evaluate(ROWS))[0]
        assert first[1:5] == ["user.ban", app, "user100", f"key {key['id']}"] and '"reason":"<b>100</b>"' in first[5]
        await press(screen, "More")
        await screen.sees("103 in all", "#view .more")
        rows = await screen.page.evaluate(ROWS)
        assert [row[1] for row in rows[-3:]] == ["user.ban", "key.create", "app.create"]
        assert [row[3] for row in rows[:101]] == [f"user{100 - number}" for number in range(101)]
        await screen.check()
        await press(screen, "user.ban")
        await screen.sees("Details", "#panel")
        shown = await screen.page.evaluate(FACTS)
        assert (shown["To"], shown["By"], shown["reason"]) == ("user100", f"key {key['id']}", "<b>100</b>") and shown["Id"] != "–"
        await screen.check()
        await screen.page.evaluate("document.querySelector('#panel').close()")
        await choose(screen, "#view input[type=search]", "nothing-of-this")
        await screen.sees("Nothing here", "#view tbody")
        await screen.sees("0 in all", "#view .more")


@pytest.mark.parametrize("how", [{}, {"theme": "dark"}, {"size": PHONE}], ids=["light", "dark", "phone"])
@pytest.mark.parametrize("view", ["webhooks", "before-hooks", "trunks", "audit"])
async def test_a_list_that_cannot_be_read_says_why_and_one_without_items_so(stack: Stack, browser: Browser, view: str, how: dict):
    name, empty = {
        "webhooks": ("webhooks", "No app has a webhook"), "before-hooks": ("hooks", "No app has a before-hook"),
        "trunks": ("trunks", "No app has a trunk"), "audit": ("entries", "Nothing here")}[view]
    async with console(stack, browser, **how) as screen:
        await screen.page.evaluate(
            "{ const ask = window.fetch; window.answers = [[503, { detail: 'the list took longer than 2 s' }], "
            f"[200, {{ {name}: [], next: null }}]]; "
            "window.fetch = async (target, ...more) => { if (!/v1.(webhooks|hooks|trunks|audit)/.test(target)) return ask(target, ...more); "
            "const [status, body] = window.answers.shift(); return new Response(JSON.stringify(body), { status }); }; }")
        await go(screen, view)
        await screen.sees("Could not be read: the list took longer than 2 s", "#view tbody")
        await screen.check()
        await press(screen, "Refresh")
        await screen.sees(empty, "#view tbody")
        await screen.sees("0 in all", "#view .more")
        await screen.check()


async def test_all_gateways_whichever_answers(stack: Stack, browser: Browser, people):
    app = stack.create_app(unique("gateways"))
    of_gateways = ROWS.replace("#view", "#view [aria-label=\"All gateways\"]")
    connections = f"{of_gateways}.map((row) => row[3]).sort().slice(-2).join()"
    async with people(stack) as cast:
        for gateway in (0, 0, 1):
            user = cast.exactly(unique("user"), app)
            await user.login(stack.gateways[gateway])
        for answering in range(2):
            async with console(stack, browser, gateway=answering) as screen:
                await screen.page.eventually(f"{connections} === '1,2'", f"gateway {answering} shows both gateways' connections", 30)
                rows = await screen.page.evaluate(of_gateways)
                processes = ServerAPI(stack, create_key(stack)["key"]).get("processes").body["processes"]
                gateways = [one for one in processes if one["kind"] == "gateway"]
                assert [(row[0], row[1], row[4]) for row in rows] == [(one["id"], one["version"], one["host"]) for one in gateways]
                await screen.sees("All gateways: 3 connections")
                await screen.check()


async def test_the_stores(stack: Stack, browser: Browser):
    found = ServerAPI(stack, create_key(stack)["key"]).get("stores").body
    async with console(stack, browser) as screen:
        for name, servers in (("Redis", found["redis"]), ("PostgreSQL", found["postgres"])):
            rows = ROWS.replace("#view", f"#view [aria-label={name}]")
            await screen.page.eventually(f"{rows}.length === {len(servers)}", f"the servers of {name} are shown")
            shown = await screen.page.evaluate(rows)
            state = "answers" if name == "Redis" else "primary"
            assert [(row[0], row[1], row[5]) for row in shown] == [(one["server"], state, one["version"]) for one in servers]
        await screen.check()


async def test_without_presence_the_overview_says_what_it_cannot_read(make_stack, browser: Browser):
    """What others know is shown all the same."""
    stack: Stack = make_stack(gateways=1)
    async with console(stack, browser) as screen:
        await go(screen, "users")
        stack.kill("presence#1")
        await go(screen, "overview")
        postgres, redis = (ROWS.replace("#view", f"#view [aria-label={name}]") for name in ("PostgreSQL", "Redis"))
        await screen.page.eventually(f"{postgres}.some((row) => row[0].startsWith('Could not be read: '))", "it says why", 30)
        assert (await screen.page.evaluate(f"{redis}.map((row) => row[1])")) == ["answers"] * len(await screen.page.evaluate(redis))
        await screen.sees("no answer within the deadline", "#view header")
        await screen.check()


async def test_a_process_is_drained(make_stack, browser: Browser):
    """Asked in its own place; the button goes when the process has been asked."""
    stack: Stack = make_stack(gateways=1)
    name = next(
        one["id"] for one in ServerAPI(stack, create_key(stack)["key"]).get("processes").body["processes"] if one["kind"] == "invitation")
    async with console(stack, browser) as screen:
        await go(screen, "processes")
        await press(screen, f"Drain {name}")
        await press(screen, "Yes, drain")
        await screen.page.eventually(
            f"{ROWS}.every((row) => row[0] !== {name!r} || row.includes('draining'))", "the process is draining, or gone")
        await screen.check()
    async with console(stack, browser, key=create_key(stack, scopes=("read",))["key"]) as screen:
        await go(screen, "processes")
        assert not await screen.page.evaluate("[...document.querySelectorAll('#view button')].some((each) => each.innerText === 'Drain')")
