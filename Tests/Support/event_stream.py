"""Streams of events of the server API."""

import asyncio
import contextlib
import json
import socket
import threading
from http.client import HTTPConnection, HTTPException
from queue import Queue
from urllib.parse import urlsplit

from server_api import Answer, ServerAPI
from waiting import eventually

SECONDS = 20


class Stream:
    """An open stream; its events are read by a thread, unless there is a `window`: then only from `read` on, and the operating system
    receives about twice as many bytes until then. It is no smaller than a packet of the loopback interface, 64 KiB: else what waits is
    sent hardly at all once it is read."""

    def __init__(self, api: ServerAPI, app: str, *, query: str = "", last: str | None = None, window: int | None = None):
        headers = {"Authorization": f"Bearer {api.key}"} | ({} if last is None else {"Last-Event-ID": last})
        place = urlsplit(api.url)
        self._connection = HTTPConnection(place.hostname, place.port, timeout=SECONDS)
        self._connection.connect()
        self._socket = self._connection.sock
        if window is not None:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        self._connection.request("GET", f"/v1/apps/{app}/events{query}", headers=headers)
        self.answer = self._connection.getresponse()
        self.status = self.answer.status
        self.position: str | None = None
        self.problem: dict = {}
        self._events: Queue[dict] = Queue()
        self._thread = threading.Thread(target=self._read, daemon=True)
        if self.status == 200:
            if window is None:
                self.read()
        else:
            self.problem = json.loads(self.answer.read())
            # Else many attempts would take all connections that the API has.
            self._connection.close()

    def answered(self) -> Answer:
        """The answer, with the problem as its body; without one when a stream has begun."""
        return Answer(self.status, self.problem, dict(self.answer.headers))

    def read(self) -> None:
        """Begins to take events."""
        self._thread.start()

    async def ended(self) -> None:
        """Waits until the server has ended the stream, and all that it sent has come."""
        await asyncio.to_thread(self._thread.join, SECONDS)
        assert not self._thread.is_alive()

    def _read(self) -> None:
        event: dict = {}
        try:
            for line in self.answer:
                name, _, value = line.decode().removesuffix("\n").partition(":")
                if name == "" and value == "":
                    self.position = event.get("id", self.position)
                    if "data" in event:
                        self._events.put(event | {"data": json.loads(event["data"])})
                    event = {}
                elif name:
                    event[name] = value.removeprefix(" ")
        except (OSError, HTTPException, ValueError, AttributeError):
            # Closed by the test, or ended by the server in the middle of a chunk.
            pass

    async def next(self) -> dict:
        """The next event."""
        return await asyncio.to_thread(self._events.get, timeout=SECONDS)

    def is_empty(self) -> bool:
        return self._events.empty()

    async def started(self) -> "Stream":
        await eventually(lambda: self.position is not None, "the stream has begun")
        return self

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._connection.close()
