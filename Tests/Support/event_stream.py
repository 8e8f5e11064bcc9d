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
    """An open stream; its events are read by a thread."""

    def __init__(self, api: ServerAPI, app: str, *, query: str = "", last: str | None = None):
        headers = {"Authorization": f"Bearer {api.key}"} | ({} if last is None else {"Last-Event-ID": last})
        place = urlsplit(api.url)
        self._connection = HTTPConnection(place.hostname, place.port, timeout=SECONDS)
        self._connection.request("GET", f"/v1/apps/{app}/events{query}", headers=headers)
        self._socket = self._connection.sock
        self.answer = self._connection.getresponse()
        self.status = self.answer.status
        self.position: str | None = None
        self.problem: dict = {}
        self._events: Queue[dict] = Queue()
        if self.status == 200:
            self._thread = threading.Thread(target=self._read, daemon=True)
            self._thread.start()
        else:
            self.problem = json.loads(self.answer.read())
            # Else many attempts would take all connections that the API has.
            self._connection.close()

    def answered(self) -> Answer:
        """The answer, with the problem as its body; without one when a stream has begun."""
        return Answer(self.status, self.problem, dict(self.answer.headers))

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
