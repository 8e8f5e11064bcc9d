"""A raw engine: a participant that joins over a gateway, and sends and hears Opus by a media path of its own."""

import uuid
from array import array
from dataclasses import replace

from apps import App
from media_keys import KeyPair, MediaKeys
from media_path import Address, MediaPath
from media_socket import MediaEvent, MediaSocket
from secrecy import SPOKEN
from speech import Live, Speech
from tone import RATE, Tone
from waiting import PATIENCE_SECONDS, eventually


def join_arguments(channel: str, uid: int = 0, **more: object) -> dict:
    """The arguments of an engine's `media.join`; `more` replaces them or adds to them, and None leaves one out."""
    arguments = {
        "channel": channel, "uid": uid, "key": "", "info": "", "call": uuid.uuid4().hex, "kind": "engine", "enabled": 0,
        "muted": 0, "pub": KeyPair().public, "codecs": ["opus"], **more}
    return {name: value for name, value in arguments.items() if value is not None}


class Engine:
    """One participant, with a socket of its own unless it is given one that others use too."""

    def __init__(self, app: App, tone: int = 0, socket: MediaSocket | None = None):
        self.tone = tone
        """What it says, in Hz; 0: nothing."""
        self.socket = socket or MediaSocket(app)
        self.channel = ""
        self.answer: dict = {}
        self.path: MediaPath | None = None
        self._owns_socket = socket is None

    async def join(
            self, url: str, channel: str, uid: int = 0, *, through: tuple[str, int] | None = None, **more: object) -> "Engine":
        """Says hello at a gateway, joins, checks the path, and begins to speak.

        Its media go to the address `through` instead of the node's. `more` as in `join_arguments`.
        """
        pair = KeyPair()
        self.channel = channel
        if self._owns_socket:
            await self.socket.open(url)
        self.answer = await self.socket.call("media.join", **join_arguments(channel, uid, pub=pair.public, **more))
        self.path = await MediaPath(*self._path_of(self.answer, pair, through)).open()
        if self.tone:
            self.speak()
        return self

    def speak(self, speech: Speech | None = None) -> None:
        """Speaks from now on: its tone, or this."""
        self.path.speak(speech or Live(Tone(self.tone)))

    async def restart(self, **more: object) -> dict:
        """Gets another path by `media.restart`, and goes on with it; the answer."""
        pair = KeyPair()
        answer = await self.socket.call(
            "media.restart", **{
                "channel": self.channel, "pid": self.pid, "secret": self.answer["secret"], "kind": "engine", "pub": pair.public,
                "codecs": ["opus"], **more})
        await self.path.restart(*self._path_of(answer, pair))
        return answer

    async def resume(self, socket: MediaSocket | None = None) -> dict:
        """Takes the roster, and goes on with this socket if one is given; the answer."""
        socket = socket or self.socket
        answer = await socket.call(
            "media.resume", channel=self.channel, pid=self.pid, secret=self.answer["secret"], n=self.n)
        self.socket = socket
        return answer

    async def mute(self, **flags: int) -> dict:
        """`mute(audio=1)`; the answer."""
        return await self.socket.call("media.mute", channel=self.channel, pid=self.pid, **flags)

    async def renew(self, key: str) -> dict:
        """Shows another key; the answer."""
        return await self.socket.call("media.renew", channel=self.channel, pid=self.pid, key=key)

    def _path_of(
            self, answer: dict, pair: KeyPair, through: tuple[str, int] | None = None) -> tuple[Address, MediaKeys]:
        keys = pair.agree(answer["pub"], self.pid)
        SPOKEN.media_key(keys.client)
        SPOKEN.media_key(keys.server)
        address = Address.of(answer)
        return (replace(address, host=through[0], port=through[1]) if through else address), keys

    @property
    def uid(self) -> int:
        return self.answer["uid"]

    @property
    def pid(self) -> str:
        return self.answer["pid"]

    @property
    def n(self) -> int:
        """The number of the roster's last change when it joined."""
        return self.answer["n"]

    def members(self) -> dict[int, int]:
        """The others who were there when it joined: their flags by uid."""
        return {uid: flags for uid, flags, _ in self.answer["users"] if uid != self.uid}

    async def hears(self, other: "Engine", seconds: float = 1) -> None:
        """Waits until it has heard so many more seconds of another one, from now on."""
        before = len(self.heard(other))
        await eventually(
            lambda: len(self.heard(other)) >= before + seconds * RATE, f"{self.uid} hears {seconds} s of {other.uid}")

    def heard(self, other: "Engine") -> array:
        """All that it has heard of another one."""
        voice = self.path.voices.get(other.uid)
        return voice.pcm if voice else array("h")

    async def event(self, kind: str, seconds: float = PATIENCE_SECONDS, **fields: object) -> MediaEvent:
        """Waits for the first event of that kind with these fields that it was told."""
        return await self.socket.event(kind, seconds, pid=self.pid, **fields)

    def told(self, *kinds: str) -> list[MediaEvent]:
        """The events of these kinds that it was told, in the order of arrival."""
        return [event for event in self.socket.events if event.type in kinds and event["pid"] == self.pid]

    def changes(self) -> list[MediaEvent]:
        """The events about the roster."""
        return self.told("joined", "left", "state")

    async def leave(self) -> dict:
        """Leaves the channel; the answer."""
        return await self.socket.call("media.leave", channel=self.channel, pid=self.pid)

    def forgive(self) -> None:
        """For a test that has failed already: `close` raises nothing."""
        self.socket.forgive()
        if self.path is not None:
            self.path.forgive()

    async def close(self) -> None:
        """Ends both; raises for what the server did wrong."""
        try:
            if self.path is not None:
                self.path.close()
        finally:
            if self._owns_socket:
                await self.socket.close()
