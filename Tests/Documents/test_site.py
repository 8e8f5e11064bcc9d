"""The site of Scripts/docs-site in a browser, opened from the disk. Its pictures are in .build/test-artifacts/site."""

import asyncio
import base64
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from chromium import Browser, Page
from stack_control import ROOT

PICTURES = ROOT / ".build" / "test-artifacts" / "site"
DESKTOP, PHONE = (1360, 900, False), (390, 844, True)
# Text and ground must differ by this much to be readable (WCAG 2.2, AA).
CONTRAST = 4.5
CONTRAST_OF = """(selector) => {
    const element = document.querySelector(selector);
    const luminance = (color) => {
        const [r, g, b] = color.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255)
            .map((part) => part <= .04045 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4);
        return .2126 * r + .7152 * g + .0722 * b;
    };
    let ground = element;
    const of = (one) => getComputedStyle(one).backgroundColor;
    while (/rgba\\(.*, 0\\)|transparent|color/.test(of(ground)) && ground.parentElement) ground = ground.parentElement;
    const [light, dark] = [luminance(getComputedStyle(element).color), luminance(of(ground))].sort((a, b) => b - a);
    return (light + .05) / (dark + .05);
}"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of this repository."""
    folder = tmp_path_factory.mktemp("docs") / "site"
    done = subprocess.run([ROOT / "Scripts" / "docs-site", "--out", folder], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    browser = Browser()
    yield browser
    browser.close()


@asynccontextmanager
async def opened(browser: Browser, address: str, shape: tuple[int, int, bool], dark: bool = False) -> AsyncIterator[Page]:
    """A page as a reader with this screen sees it."""
    async with browser.open("data:text/html,<script>window.isReady = true</script>") as page:
        width, height, mobile = shape
        await page.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        await page.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        await page.command("Page.navigate", url=address)
        await page.eventually("location.protocol === 'file:' && document.readyState === 'complete'", f"{address} is loaded")
        yield page


async def picture(page: Page, name: str) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    taken = await page.command("Page.captureScreenshot", format="png")
    await asyncio.to_thread((PICTURES / f"{name}.png").write_bytes, base64.b64decode(taken["data"]))


# Every kind of screen for the first page; for others the widest and the narrowest.
SCREENS = {"desktop": (DESKTOP, False), "desktop-dark": (DESKTOP, True), "phone": (PHONE, False), "phone-dark": (PHONE, True)}
SEEN = [("index", screen) for screen in SCREENS] + [
    (name, screen) for name in ("quick-start", "architecture", "configuration", "conformance") for screen in ("desktop", "phone-dark")]


@pytest.mark.parametrize("name, screen", SEEN)
async def test_pages_fit_their_screens_and_can_be_read(browser: Browser, site: Path, name: str, screen: str):
    async with opened(browser, (site / f"{name}.html").as_uri(), *SCREENS[screen]) as page:
        await picture(page, f"{name}-{screen}")
        # Not `innerWidth`, which grows with the page on a telephone.
        width = await page.evaluate("document.documentElement.scrollWidth")
        assert width <= SCREENS[screen][0][0], "the page is wider than the screen"
        for selector in ("main p", "main a", "main code", "header a", "h1"):
            assert await page.evaluate(f"({CONTRAST_OF})({selector!r})") >= CONTRAST, selector


async def test_the_search_finds_settings_and_sections(browser: Browser, site: Path):
    async with opened(browser, (site / "index.html").as_uri(), DESKTOP) as page:
        for words, wanted in (("HELIOGRAPH_REDIS_DURABILITY", "configuration.html"), ("backup restore", "operations.html#backup-and-restore"),
                              ("heliographredismemory", "monitoring/runbooks.html#heliographredismemory"), ("_sendmsg_limit", "protocol.html")):
            await page.evaluate(f"(() => {{ const field = document.querySelector('#ui-search'); field.focus(); field.value = {words!r}; "
                                "field.dispatchEvent(new Event('input')) })()")
            await page.eventually(
                f"[...document.querySelectorAll('#ui-results a')].slice(0, 5).some((link) => link.href.includes({wanted!r}))", f"{words} leads to {wanted}")
        await picture(page, "search-desktop")
        # Enter follows the first result, also from a page of a folder.
        first = await page.evaluate("document.querySelector('#ui-results a').href")
        await page.command("Input.dispatchKeyEvent", type="keyDown", key="Enter", code="Enter", windowsVirtualKeyCode=13)
        await page.eventually(f"location.href === {first!r}", "the result is opened")


async def test_what_is_not_found_is_said_and_nothing_is_taken_as_html(browser: Browser, site: Path):
    async with opened(browser, (site / "monitoring" / "runbooks.html").as_uri(), PHONE) as page:
        for words in ("zzzz", "<img src=x onerror=alert(1)>", "(", "a[", "\\\\"):
            await page.evaluate(f"(() => {{ const field = document.querySelector('#ui-search'); field.focus(); field.value = '{words}'; "
                                "field.dispatchEvent(new Event('input')) })()")
            await page.eventually("!document.querySelector('#ui-results').hidden", "an answer is shown")
            assert await page.evaluate("document.querySelectorAll('#ui-results img').length") == 0
        assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]


async def test_menu_and_theme(browser: Browser, site: Path):
    async with opened(browser, (site / "decisions" / "index.html").as_uri(), PHONE) as page:
        assert not await page.evaluate("document.querySelector('#ui-navigation').checkVisibility()")
        await page.evaluate("document.querySelector('#ui-menu').click()")
        assert await page.evaluate("document.querySelector('#ui-navigation').checkVisibility()")
        await picture(page, "menu-phone")
        ground = "getComputedStyle(document.body).backgroundColor"
        light = await page.evaluate(ground)
        await page.evaluate("document.querySelector('#ui-theme').click()")
        assert await page.evaluate(ground) != light
        await page.command("Page.reload")
        await page.eventually(f"document.readyState === 'complete' && {ground} !== {light!r}", "the choice is remembered")


def test_nothing_is_loaded_from_elsewhere(site: Path):
    for path in [*site.glob("*.css"), site / "site.js", *site.glob("*.html")]:
        text = path.read_text(encoding="utf-8")
        assert "@import" not in text and "url(http" not in text and '<script src="http' not in text, path.name


def test_every_document_has_a_page(site: Path):
    for path in [*(ROOT / "Docs").glob("*.md"), *(ROOT / "Docs" / "monitoring").glob("*.md"), *(ROOT / "Docs" / "decisions").glob("*.md")]:
        assert (site / path.relative_to(ROOT / "Docs").with_suffix(".html").as_posix().lower()).is_file(), path
