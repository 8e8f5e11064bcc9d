"""Who takes part in a test: engines and sockets, which end with it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import cycle

from apps import App
from engine import Engine
from media_socket import MediaSocket
from stack_control import Stack


class Cast:
    """Makes engines and sockets, on each gateway in turn, and closes them at the end."""

    def __init__(self, stack: Stack):
        self.stack = stack
        self.opened: list[Engine | MediaSocket] = []
        self._turn = cycle(stack.gateways)

    async def engine(
            self, channel: str, tone: int = 0, uid: int = 0, app: App | None = None, socket: MediaSocket | None = None,
            **more: object) -> Engine:
        """An engine that has joined, and speaks unless `tone` is 0. `more` as in `Engine.join`."""
        engine = Engine(app or self.stack.open_app, tone, socket)
        self.opened.append(engine)
        return await engine.join(next(self._turn), channel, uid, **more)

    async def socket(self, app: App | None = None) -> MediaSocket:
        """A socket after hello."""
        socket = MediaSocket(app or self.stack.open_app)
        self.opened.append(socket)
        return await socket.open(next(self._turn))


@asynccontextmanager
async def cast_of(stack: Stack) -> AsyncIterator[Cast]:
    cast = Cast(stack)
    try:
        yield cast
    except BaseException:
        # What went wrong first is what the test says.
        for one in cast.opened:
            one.forgive()
        raise
    finally:
        # Those who came last first: sockets outlive the engines that share them.
        for one in reversed(cast.opened):
            await one.close()
