"""Headless Chromium, driven over the DevTools protocol."""

import asyncio
import contextlib
import itertools
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator
from pathlib import Path

from waiting import before_next_try, before_next_try_blocking
from web import fetch
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

START_SECONDS = 60
STEP_SECONDS = 20
# No connections to other hosts, and no throttling of pages in the background.
FLAGS = [
    "--headless", "--no-sandbox", "--remote-debugging-port=0", "--no-first-run", "--no-proxy-server", "--disable-gpu",
    "--disable-dev-shm-usage", "--disable-extensions", "--disable-sync", "--disable-component-update",
    "--disable-background-networking", "--disable-background-timer-throttling", "--disable-renderer-backgrounding",
    # The TLS test's certificate signs itself.
    "--ignore-certificate-errors",
]


class Browser:
    """A Chromium process with a profile of its own, and further flags."""

    def __init__(self, *flags: str) -> None:
        program = shutil.which("chromium")
        assert program, "chromium is not installed (run Scripts/install-dependencies)"
        self._profile = Path(tempfile.mkdtemp(prefix="heliograph-chromium-"))
        self._log = (self._profile / "log").open("wb")
        self._process = subprocess.Popen(
            [program, *FLAGS, *flags, f"--user-data-dir={self._profile}", "about:blank"], stdin=subprocess.DEVNULL,
            stdout=self._log, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            self._base = f"http://127.0.0.1:{self._wait_for_port()}"
        except BaseException:
            self.close()
            raise

    def _wait_for_port(self) -> int:
        announced = self._profile / "DevToolsActivePort"
        deadline = time.monotonic() + START_SECONDS
        while not (announced.exists() and announced.read_text().count("\n")):
            log = (self._profile / "log").read_text(errors="replace")[-2000:]
            assert self._process.poll() is None, f"chromium ended with {self._process.returncode}:\n{log}"
            assert time.monotonic() < deadline, f"chromium doesn't listen after {START_SECONDS} s:\n{log}"
            before_next_try_blocking(0.05)
        return int(announced.read_text().split("\n")[0])

    def close(self) -> None:
        """Ends it and its children, which are a process group of their own."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._log.close()
        shutil.rmtree(self._profile, ignore_errors=True)

    def _ask(self, path: str) -> dict:
        request = urllib.request.Request(f"{self._base}{path}", method="PUT")
        with fetch(request, STEP_SECONDS) as answer:
            return json.load(answer)

    @contextlib.asynccontextmanager
    async def open(self, url: str) -> AsyncIterator["Page"]:
        """A page of its own; fails at the end if the page had an uncaught error."""
        target = await asyncio.to_thread(self._ask, "/json/new?about:blank")
        async with connect(target["webSocketDebuggerUrl"], proxy=None, max_size=None) as socket:
            page = Page(socket)
            await page.load(url)
            yield page
            assert not page.errors, f"errors in the page: {page.errors}"
            await page.command("Page.close")


class Page:
    """One tab."""

    def __init__(self, socket: ClientConnection):
        self.errors: list[str] = []
        self._socket = socket
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future] = {}
        self._reader = asyncio.create_task(self._read())

    async def load(self, url: str) -> None:
        """Opens the address and waits for its scripts."""
        await self.command("Runtime.enable")
        await self.command("Page.enable")
        await self.command("Page.navigate", url=url)
        await self.eventually("window.isReady === true", f"{url} is loaded")

    async def command(self, method: str, **parameters: object) -> dict:
        """A command of the DevTools protocol."""
        number = next(self._numbers)
        future = self._answers[number] = asyncio.get_running_loop().create_future()
        await self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        return await asyncio.wait_for(future, STEP_SECONDS)

    async def evaluate(self, expression: str) -> object:
        """The value of an expression; promises are awaited, exceptions raised."""
        answer = await self.command(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{expression}: {_describe(answer['exceptionDetails'])}")
        return answer["result"].get("value")

    async def run(self, function: str, *arguments: object) -> object:
        """Calls a function of the page with JSON values."""
        return await self.evaluate(f"{function}({', '.join(map(json.dumps, arguments))})")

    async def eventually(self, expression: str, reason: str, seconds: float = STEP_SECONDS) -> None:
        """Waits until an expression is true; `reason` says what was waited for."""
        deadline = time.monotonic() + seconds
        while not await self.evaluate(expression):
            assert time.monotonic() < deadline, f"after {seconds} s still not: {reason}; errors: {self.errors}"
            await before_next_try(0.02)

    async def _read(self) -> None:
        with contextlib.suppress(ConnectionClosed):
            async for payload in self._socket:
                self._received(json.loads(payload))
        for future in self._answers.values():
            future.cancel()

    def _received(self, message: dict) -> None:
        if "id" in message:
            future = self._answers.pop(message["id"])
            if not future.done():
                failed = message.get("error")
                future.set_exception(AssertionError(failed)) if failed else future.set_result(message["result"])
        elif message["method"] == "Runtime.exceptionThrown":
            self.errors.append(_describe(message["params"]["exceptionDetails"]))
        elif message["method"] == "Runtime.consoleAPICalled" and message["params"]["type"] == "error":
            self.errors.append(str([value.get("description") for value in message["params"]["args"]]))


def _describe(details: dict) -> str:
    return details.get("exception", {}).get("description") or details["text"]
