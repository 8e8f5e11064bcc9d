"""The playground calls a telephone: a softphone at the trunk of the page's app."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from baresip import Baresip
from chromium import Browser
from columns import Columns, playground
from scene import NUMBER, scene
from stack_control import Stack, unique


@asynccontextmanager
async def ringing(stack: Stack, browser: Browser) -> AsyncIterator[tuple[Columns, Baresip]]:
    """The page, one of whose users has dialled a telephone, which rings."""
    async with scene(stack, trunk=False) as play:
        phone = await play.peers.start(Baresip(play.peers, user=NUMBER))
        play.trunk(port=phone.sip_port)
        async with playground(stack, browser, play.app.id) as users:
            await users.login(0, unique("ada"), unique("tea"))
            await users.fill(0, "User or telephone", NUMBER)
            await users.press(0, "Call")
            await phone.happens("CALL_INCOMING")
            await users.sees(0, f"it rings at {NUMBER}")
            yield users, phone
            await users.screen.check()


async def test_a_telephone_answers_hears_digits_and_hangs_up(stack: Stack, browser: Browser):
    async with ringing(stack, browser) as (users, phone):
        await phone.accept()
        await users.sees(0, f"talking with {NUMBER}")
        await phone.happens("CALL_RTPESTAB")
        await users.press(0, "Send digits")
        await phone.hears("12#")
        await phone.press("7")
        await users.sees(0, f"digits from {NUMBER}: 7")
        await phone.hang_up()
        await users.sees(0, f"{NUMBER} has ended the call")
        await users.sees(0, "no call")


async def test_the_page_ends_a_call_to_a_telephone(stack: Stack, browser: Browser):
    async with ringing(stack, browser) as (users, phone):
        await phone.accept()
        await users.sees(0, f"talking with {NUMBER}")
        await users.press(0, "End")
        await phone.happens("CALL_CLOSED")
        await users.sees(0, "no call")


async def test_a_telephone_that_refuses(stack: Stack, browser: Browser):
    async with ringing(stack, browser) as (users, phone):
        await phone.hang_up()
        await users.sees(0, f"{NUMBER} has refused")
        await users.sees(0, "no call")
