"""The console, operated as a person does."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from chromium import Browser
from screens import Screen, opened
from server_api import create_key
from stack_control import Stack


@asynccontextmanager
async def entrance(stack: Stack, browser: Browser, gateway: int = 0, **how) -> AsyncIterator[Screen]:
    """The page of a gateway before signing in."""
    async with opened(browser, f"{stack.endpoints['api'][gateway]}/console/", **how) as screen:
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


async def only_one(screen: Screen) -> None:
    """Waits until the list has one row: not eleven, before it is searched."""
    await screen.page.eventually("document.querySelector('#view .more span')?.textContent === '1 in all'", "the list has one row")


async def open_user(screen: Screen, account: str) -> None:
    """Opens the panel of a user, who may be offline."""
    await screen.page.evaluate("document.querySelector('#panel').close()")
    # Reads the list again, which is up to a second behind.
    await go(screen, "bans")
    await go(screen, "users")
    await choose(screen, "#view input[type=search]", account)
    await screen.sees(" in all", "#view .more")
    await choose(screen, "#view select", "all")
    await only_one(screen)
    await press(screen, account)
    await screen.page.eventually("document.querySelector('#panel').open", "the panel is open")


def failing_webhook(stack: Stack, app: str) -> None:
    """Sets a webhook that has failed for an hour, with 7 events that wait and 2 dead letters. Nothing sends."""
    stack.control("webhook", "set", app, f"https://{app}.example.com/hook?key=query-secret", "--kinds", "join", "leave")
    stack.sql(f"""
        UPDATE webhooks SET attempts = 12, failing_since = now() - interval '1 hour', last_error = 'the receiver answered 503',
            next_attempt_at = now() + interval '1 hour' WHERE app = '{app}'""")
    stack.sql(f"""
        INSERT INTO webhook_events (app, at, id, kind, body, queued_at)
        SELECT '{app}', i, 'e' || i, 'join', '{{}}', now() - interval '1 hour' FROM generate_series(1, 7) i""")
    stack.sql(f"""
        INSERT INTO webhook_dead (app, at, id, kind, body, queued_at, error)
        SELECT '{app}', i, 'd' || i, 'join', '{{}}', now(), 'too old' FROM generate_series(1, 2) i""")
