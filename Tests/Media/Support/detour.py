"""A gateway before a gateway, by which media go another way: for clients that cannot be told to send theirs through a rough network."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus

from rough_network import Address
from secrecy import SPOKEN
from websockets.asyncio.client import connect
from websockets.asyncio.connection import Connection
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

# As media sockets of the tests have it: what is passed on is neither compressed nor bounded here.
PLAIN = {"compression": None, "ping_interval": None, "max_size": None}


@asynccontextmanager
async def detour(gateway: str, through: Address) -> AsyncIterator[str]:
    """The address of a gateway that is found by `/getaddr` and passes on what it is told; media go to the address `through`."""

    def found(connection: ServerConnection, request: Request) -> Response | None:
        if not request.path.startswith("/getaddr?"):
            return None
        return connection.respond(HTTPStatus.OK, json.dumps({"web": [connection.local_address[:2]]}))

    async def relay(client: ServerConnection) -> None:
        async with connect(gateway, proxy=None, **PLAIN) as server:
            await asyncio.gather(
                _pass_on(client, server, lambda frame: frame), _pass_on(server, client, lambda frame: _changed(frame, through)))

    async with serve(relay, "127.0.0.1", 0, process_request=found, **PLAIN) as listener:
        host, port = listener.sockets[0].getsockname()
        yield f"ws://{host}:{port}"


async def _pass_on(source: Connection, target: Connection, change: Callable[[str], str]) -> None:
    """Passes on frames until one of the two is closed, and closes the other."""
    with suppress(ConnectionClosed):
        async for frame in source:
            await target.send(change(frame))
    await target.close()


def _changed(frame: str, through: Address) -> str:
    """A frame of the gateway in which a node's address, if it has one, is this."""
    name, argument = json.loads(frame)
    if name != "call2-ret" or argument[1]:
        return frame
    number, error, text = argument
    answer = json.loads(text)
    SPOKEN.media(answer)
    if "candidates" in answer:
        answer["candidates"] = [["udp", *through]]
    return json.dumps([name, [number, error, json.dumps(answer)]])
