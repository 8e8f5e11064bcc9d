"""Users in a page."""

import json

from apps import App
from chromium import STEP_SECONDS, Page
from stack_control import Stack, unique


class WebUser:
    """A session in a page; its callbacks are kept as `[name, ...values]`, in order."""

    def __init__(self, page: Page, number: int, account: str):
        self.page = page
        self.number = number
        self.account = account

    @classmethod
    async def login(
        cls, page: Page, app: App, account: str, *, discovery: str | list[str] | None = None, token: str | None = None,
        channel: str | None = None,
    ) -> "WebUser":
        """Begins to log in; the outcome is in the log."""
        given = {"discovery": discovery, "channel": channel}
        options = {name: value for name, value in given.items() if value is not None}
        token = app.token(account) if token is None else token
        return cls(page, await page.run("login", app.id, account, token, options), account)

    @classmethod
    async def online(
        cls, page: Page, stack: Stack, *, discovery: str | list[str] | None = None, room: str | None = None,
    ) -> "WebUser":
        """A new user of the open app that has logged in and, if one is named, joined a channel."""
        user = await cls.login(page, stack.open_app, unique("web"), discovery=discovery)
        await user.wait("onLoginSuccess")
        if room is not None:
            await user.act("channelJoin", room)
            await user.wait("onChannelJoined")
        return user

    async def act(self, method: str, *values: object, on: str = "session") -> object:
        """Calls a method of the session, the channel or the call."""
        return await self.page.run("act", self.number, on, method, *values)

    async def ask(self, method: str, *values: object, on: str = "session") -> list:
        """The same for methods with a callback; returns the callback's arguments."""
        return await self.page.run("ask", self.number, on, method, *values)

    async def stream(self, method: str, *values: object, on: str = "session", count: int, per_second: int) -> None:
        """Begins to send the texts 0, 1, 2... at that rate."""
        await self.page.run("stream", self.number, on, method, values, count, per_second)

    async def progress(self) -> dict:
        return await self.page.evaluate(f"users[{self.number}].progress")

    async def log(self) -> list[list]:
        """All callbacks."""
        return await self.page.evaluate(f"users[{self.number}].log")

    async def seen(self, name: str) -> list[list]:
        """The values of all calls of one callback."""
        return await self.page.evaluate(
            f"users[{self.number}].log.filter(([name]) => name === {json.dumps(name)}).map(([, ...values]) => values)")

    async def wait(self, name: str, count: int = 1, seconds: float = STEP_SECONDS) -> list:
        """Waits until the callback was called that often; returns the values of that call."""
        condition = f"users[{self.number}].log.filter(([name]) => name === {json.dumps(name)}).length >= {count}"
        try:
            await self.page.eventually(condition, f"{self.account}: {name} was called {count} times", seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}; log: {str(await self.log())[-1500:]}") from None
        return (await self.seen(name))[count - 1]

    async def first_status(self) -> int:
        """The status in the moment after the call of `login`, before the page could receive anything."""
        return await self.page.evaluate(f"users[{self.number}].firstStatus")

    async def status(self) -> int:
        return await self.act("getStatus")
