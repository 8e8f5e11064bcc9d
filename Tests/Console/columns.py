"""The playground, operated as a person does."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from chromium import Browser
from screens import Screen, opened
from stack_control import Stack

# The forms and buttons of a user's column.
COLUMN = "document.querySelectorAll('.person')[{}]"


class Columns:
    """The users of the page, operated as a person does: by the names of fields and buttons."""

    def __init__(self, screen: Screen):
        self.screen = screen
        self.page = screen.page

    async def fill(self, column: int, name: str, value: str) -> None:
        """Sets the field with this label."""
        await self.page.evaluate(
            f"{{ const field = [...{COLUMN.format(column)}.querySelectorAll('input, select')].find((each) => "
            f"[each.ariaLabel, each.labels[0]?.firstChild.textContent].includes({name!r})); "
            f"field.value = {value!r}; field.dispatchEvent(new Event('change', {{ bubbles: true }})); }}")

    async def press(self, column: int, text: str) -> None:
        """Presses the button with this text, once it can be pressed."""
        button = f"[...{COLUMN.format(column)}.querySelectorAll('button')].find((each) => each.textContent === {text!r} && !each.hidden)"
        await self.page.eventually(f"{button}?.disabled === false", f"{text} can be pressed in column {column}")
        await self.page.evaluate(f"{button}.click()")

    async def sees(self, column: int, text: str) -> None:
        await self.page.eventually(f"{COLUMN.format(column)}.innerText.includes({text!r})", f"column {column} shows {text!r}")

    async def login(self, column: int, account: str, room: str) -> None:
        await self.fill(column, "Account", account)
        await self.fill(column, "Channel", room)
        await self.press(column, "Log in")
        await self.sees(column, "online")
        await self.press(column, "Join")
        await self.sees(column, f"joined {room}")


@asynccontextmanager
async def playground(stack: Stack, browser: Browser, app: str | None = None, **how) -> AsyncIterator[Columns]:
    """The playground with two users' columns."""
    url = f"{stack.endpoints['api'][0]}/playground/?app={app or stack.open_app.id}"
    async with opened(browser, url, **how) as screen:
        yield Columns(screen)
