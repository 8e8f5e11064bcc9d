"""Fixtures: a cluster with a media node, and engines that join it; Tests/Media/Support has what they are made of."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "Support"), str(HERE.parent / "Support"), str(HERE.parent / "Browser")]

import fixtures  # noqa: E402
from chromium import Browser  # noqa: E402
from fixtures import make_stack, people, pytest_pyfunc_call, running  # noqa: E402, F401
from media_cast import Cast, cast_of  # noqa: E402
from media_page import MediaPage, Site, opened, tone_browser  # noqa: E402
from stack_control import Stack  # noqa: E402
from tone import TONES  # noqa: E402

# What a scene of those that are played at once may take.
SCENE_SECONDS = 60
# Chosen by their length.
LONG_SECONDS = float(os.environ.get("HELIOGRAPH_TALK_SECONDS") or 0)
if LONG_SECONDS:
    fixtures.TEST_SECONDS = LONG_SECONDS + 600


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: runs with HELIOGRAPH_TALK_SECONDS (`make test-media-long`) only")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With HELIOGRAPH_TALK_SECONDS the long tests, else the others."""
    others = [item for item in items if bool(item.get_closest_marker("long")) != bool(LONG_SECONDS)]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if item not in others]


@pytest.fixture(scope="session")
def stack(request: pytest.FixtureRequest) -> Iterator[Stack]:
    """Two gateways, one of each service, a media node; for tests that kill nothing.

    All that can be logged is logged: when the stack ends, its logs are searched for the secrets of media.
    """
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("HELIOGRAPH_LOG_LEVEL", "trace")
        with running(request, gateways=2, media=1) as stack:
            yield stack


@pytest.fixture
def media(stack: Stack) -> AbstractAsyncContextManager[Cast]:
    """`async with media as cast: ada = await cast.engine(channel, 440)`."""
    return cast_of(stack)


@pytest.fixture(scope="module")
def played(request: pytest.FixtureRequest, stack: Stack) -> dict[str, BaseException | None]:
    """Plays the `SCENES` of a module all at once, because each of them mostly waits; how each ended, by its name."""

    async def play(scene: Callable[[Cast], Awaitable[None]]) -> None:
        async with asyncio.timeout(SCENE_SECONDS), cast_of(stack) as cast:
            await scene(cast)

    async def play_all(scenes: list[Callable[[Cast], Awaitable[None]]]) -> dict[str, BaseException | None]:
        outcomes = await asyncio.gather(*(play(scene) for scene in scenes), return_exceptions=True)
        return {scene.__name__: outcome for scene, outcome in zip(scenes, outcomes, strict=True)}

    return asyncio.run(play_all(request.module.SCENES))


@pytest.fixture(scope="session")
def browsers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[int, Browser]]:
    """By tone: a browser whose microphone has it. They start one after another: each takes all cores for a while."""
    directory, browsers = tmp_path_factory.mktemp("tones"), {}
    try:
        for tone in TONES:
            browsers[tone] = tone_browser(tone, directory)
        yield browsers
    finally:
        for browser in browsers.values():
            browser.close()


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    site = Site()
    yield site
    site.close()


@pytest.fixture
def visit(browsers: dict[int, Browser], site: Site) -> Callable[[int], AbstractAsyncContextManager[MediaPage]]:
    """`async with visit(440) as page:`, a page that says this tone when it has joined."""
    return lambda tone: opened(browsers[tone], site, tone)
