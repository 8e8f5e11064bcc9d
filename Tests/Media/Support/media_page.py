"""Pages of Chromium as participants: each browser's microphone is a tone."""

import base64
import http.server
import threading
import uuid
import wave
from array import array
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from apps import App
from chromium import Browser, Page
from secrecy import SPOKEN
from tone import FRAME, RATE, Tone

SCRIPT = Path(__file__).resolve().with_name("media_page.js")
HTML = b'<!DOCTYPE html><link rel="icon" href="data:,"><script src="/media_page.js"></script>'
FLAGS = (
    "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream", "--autoplay-policy=no-user-gesture-required",
    # Some machines have no other network.
    "--allow-loopback-in-peer-connection",
)
# Chromium plays the file again and again: it has whole periods.
FILE_SECONDS = 10
CONNECT_SECONDS = 10
CONNECTED = "connection.connectionState === 'connected' && connectedAfter"


def tone_browser(frequency: int, directory: Path) -> Browser:
    """A browser that hears this tone by its microphone; the file is in `directory`."""
    path, tone = directory / f"{frequency}.wav", Tone(frequency)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        for _ in range(FILE_SECONDS * RATE // FRAME):
            file.writeframes(tone.frame().tobytes())
    return Browser(*FLAGS, f"--use-file-for-fake-audio-capture={path}")


class Site:
    """Serves the page on loopback, where pages may use microphones."""

    def __init__(self) -> None:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                is_script = self.path == f"/{SCRIPT.name}"
                body = SCRIPT.read_bytes() if is_script else HTML
                self.send_response(200)
                self.send_header("Content-Type", "text/javascript" if is_script else "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class MediaPage:
    """One participant in a page."""

    def __init__(self, page: Page, tone: int):
        self.page = page
        self.tone = tone
        self.answer: dict = {}

    @property
    def uid(self) -> int:
        return self.answer["uid"]

    async def join(
            self, url: str, app: App, channel: str, uid: int = 0, *, through: tuple[str, int] | None = None) -> "MediaPage":
        """Joins over the gateway, and waits for the connection; media go to the address `through` instead of the node's."""
        self.answer = await self.page.run("join", url, app.id, {
            "channel": channel, "uid": uid, "key": "", "info": "", "call": uuid.uuid4().hex, "enabled": 0, "muted": 0},
            through)
        SPOKEN.media(self.answer)
        await self.page.eventually(CONNECTED, "the page is connected", CONNECT_SECONDS)
        return self

    async def mute(self, **flags: int) -> dict:
        """`mute(audio=1)`; the answer."""
        return await self.page.run("ask", "media.mute", flags)

    async def restart(self) -> dict:
        """Restarts ICE, and waits for the connection; the answer."""
        answer = await self.page.run("restart", self.answer["secret"])
        SPOKEN.media(answer)
        await self.page.eventually(CONNECTED, "the page is connected again", CONNECT_SECONDS)
        return answer

    async def told(self, *kinds: str) -> list[dict]:
        """The events of these kinds that it was told, in the order of arrival."""
        return await self.page.run("told", *kinds)

    async def voices(self) -> dict[int, array]:
        """The last second or more of everybody who is heard, by uid."""
        heard = {}
        for slot in await self.page.run("sound"):
            assert slot["rate"] == RATE, f"a slot of {slot['rate']} Hz"
            heard[slot["uid"]] = array("h", base64.b64decode(slot["pcm"]))
        return heard

    async def connected_after(self) -> float:
        """The milliseconds from the request to join until the page was connected."""
        return await self.page.evaluate("connectedAfter")

    async def answered_after(self) -> float:
        """The milliseconds from the request to join until its answer."""
        return await self.page.evaluate("answeredAfter")

    async def received(self) -> int:
        """The packets that came."""
        return (await self.page.run("counts"))["received"]

    async def lost(self) -> int:
        """The packets that did not come."""
        return (await self.page.run("counts"))["lost"]


@asynccontextmanager
async def opened(browser: Browser, site: Site, tone: int) -> AsyncIterator[MediaPage]:
    """A page in a browser with that tone."""
    async with browser.open(site.url) as page:
        yield MediaPage(page, tone)
