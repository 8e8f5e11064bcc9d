"""Fixtures: Tests/Support's clusters and raw clients, and a browser with pages that use the web client."""

import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "Support")]

from chromium import Browser, Page  # noqa: E402
from fixtures import make_stack, people, pytest_pyfunc_call, stack  # noqa: E402, F401
from pages import Site  # noqa: E402
from stack_control import Stack  # noqa: E402


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    browser = Browser()
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    site = Site()
    yield site
    site.close()


@pytest.fixture
def visit(browser: Browser, site: Site) -> Callable[..., object]:
    """`async with visit(stack) as page:`, on a page that finds the gateways of this cluster at its own origin."""

    @asynccontextmanager
    async def opened(stack: Stack, page: str = "/module") -> AsyncIterator[Page]:
        site.only, site.discovery = None, stack.endpoints["gateways"][0]["http"]
        async with browser.open(site.url + page) as opened_page:
            yield opened_page

    return opened


@pytest.fixture
def only(site: Site) -> Callable[..., str]:
    """Discovery that answers with exactly these gateways, given by address or port."""
    return lambda *gateways: f"{site.url}/{','.join(str(gateway).rsplit(':', 1)[-1] for gateway in gateways)}"
