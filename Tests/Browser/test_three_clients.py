"""The browser client, the Swift client and the unmodified Python client talk to each other, over two gateways."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stack_control import BINARIES, Stack, unique
from users import WebUser
from waiting import eventually


@contextmanager
def running(*command: str) -> Iterator[subprocess.Popen]:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


async def test_all_three_talk_to_each_other(stack: Stack, visit, only, people):
    room, swift, python = unique("room"), unique("swift"), unique("python")
    app = stack.open_app
    one, two = stack.gateways
    async with visit(stack) as page, people(stack) as cast:
        watcher, = await cast.login("watcher")
        with (
            running(str(BINARIES / "client-echo"), app.id, swift, only(two), room),
            running(sys.executable, str(Path(__file__).with_name("python_echo.py")), app.id, python,
                    one.removeprefix("ws://"), room),
        ):
            web = await WebUser.login(page, app, unique("web"), discovery=only(one))
            await web.wait("onLoginSuccess")

            async def both_are_there() -> bool:
                answer = await watcher.call("channel_query_userlist", name=room)
                return {swift, python} <= {account for account, _ in answer["list"]}

            await eventually(both_are_there, "the Swift and the Python user are in the channel", 30)
            await web.act("channelJoin", room)
            await web.wait("onChannelJoined")
            await exchange_messages(web, swift, python)
            await talk_in_the_channel(web, swift, python)
            # Calls from the page to both.
            for count, peer in enumerate((swift, python), start=1):
                await web.act("channelInviteUser2", room, peer, "")
                await web.wait("onInviteAcceptedByPeer", count)


async def exchange_messages(web: WebUser, swift: str, python: str) -> None:
    """Instant messages between each two of the three: the web user writes to the others, and has them write to each other."""
    for peer in (swift, python):
        await web.act("messageInstantSend", peer, "hello")
    await web.wait("onMessageInstantReceive", 2)
    await web.act("messageInstantSend", swift, f"tell {python} tell {web.account} python was told by swift")
    await web.wait("onMessageInstantReceive", 3)
    await web.act("messageInstantSend", python, f"tell {swift} tell {web.account} swift was told by python")
    await web.wait("onMessageInstantReceive", 4)
    assert sorted(map(tuple, await web.seen("onMessageInstantReceive"))) == sorted([
        (swift, 0, "swift heard: hello"), (python, 0, "python heard: hello"),
        (python, 0, "python was told by swift"), (swift, 0, "swift was told by python")])


async def talk_in_the_channel(web: WebUser, swift: str, python: str) -> None:
    """Each of the three says something in the channel and hears the others."""
    await web.act("messageChannelSend", "go", on="channel")
    await web.wait("onMessageChannelReceive", 3)
    said = {(account, text) for account, _, text in await web.seen("onMessageChannelReceive")}
    assert said == {(web.account, "go"), (swift, "swift is here"), (python, "python is here")}
