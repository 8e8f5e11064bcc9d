"""Pages of the gateway's own in a browser: at the width of a desk or a phone, light or dark, with their checks and pictures."""

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from chromium import Browser, Page

HERE = Path(__file__).resolve().parent
PICTURES = HERE.parents[1] / ".build" / "screenshots"
CHECKS = (HERE / "checks.js").read_text()
BLANK = "data:text/html,<script>window.isReady = true</script>"
DESK, PHONE = (1440, 900), (390, 844)
# The share of the window that moves at once, times how far, from which on users notice it.
SHIFT = 0.01


class Screen:
    """A page and how it is looked at."""

    def __init__(self, page: Page):
        self.page = page

    async def show(self, size: tuple[int, int] = DESK, theme: str = "light") -> None:
        """Sets the size of the window, and what the system says of light and dark."""
        width, height = size
        await self.page.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=size == PHONE)
        await self.page.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])

    async def picture(self, name: str) -> Path:
        """Writes what the window shows to `.build/screenshots`."""
        shot = await self.page.command("Page.captureScreenshot", format="png")
        PICTURES.mkdir(parents=True, exist_ok=True)
        path = PICTURES / f"{name}.png"
        path.write_bytes(base64.b64decode(shot["data"]))
        return path

    async def check(self) -> None:
        """Fails on what makes the page hard to use, on what its policy refused, and on what moved by itself."""
        found = await self.page.evaluate("complaints()")
        assert not found, found
        refused = await self.page.evaluate("window.refused")
        assert not refused, refused
        shifted = await self.page.evaluate("window.shifted")
        assert all(value < SHIFT for value, _ in shifted), shifted

    async def press(self, *keys: str) -> None:
        """Presses keys, as `Tab` or `ArrowRight`; other texts are typed."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowRight": 39, "ArrowLeft": 37, "ArrowDown": 40, " ": 32}
        for key in keys:
            if key not in codes:
                await self.page.command("Input.insertText", text=key)
                continue
            text = {"Enter": "\r", " ": " "}.get(key, "")
            for kind in ("keyDown", "keyUp"):
                await self.page.command(
                    "Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=codes[key],
                    **({"text": text} if text and kind == "keyDown" else {}))

    async def sees(self, text: str, within: str = "body", seconds: float = 20) -> None:
        """Waits until an element shows a text."""
        await self.page.eventually(
            f"(document.querySelector({within!r})?.innerText ?? '').includes({text!r})", f"{within} shows {text!r}", seconds)


@asynccontextmanager
async def opened(browser: Browser, url: str, size: tuple[int, int] = DESK, theme: str = "light") -> AsyncIterator[Screen]:
    """A page, checked from its first moment on."""
    async with browser.open(BLANK) as page:
        screen = Screen(page)
        await page.command("Page.addScriptToEvaluateOnNewDocument", source=CHECKS)
        await screen.show(size, theme)
        await page.load(url)
        yield screen
