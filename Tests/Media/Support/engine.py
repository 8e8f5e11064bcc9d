"""A raw engine: a participant that joins over a gateway, and sends and hears Opus by a media path of its own."""

import uuid
from array import array

from apps import App
from media_keys import KeyPair
from media_path import Address, MediaPath
from media_socket import MediaEvent, MediaSocket
from secrecy import SPOKEN
from tone import RATE, Tone
from waiting import eventually


def join_arguments(channel: str, uid: int = 0, **more: object) -> dict:
    """The arguments of an engine's `media.join`; `more` replaces them or adds to them, and None leaves one out."""
    arguments = {
        "channel": channel, "uid": uid, "key": "", "info": "", "call": uuid.uuid4().hex, "kind": "engine", "enabled": 0,
        "muted": 0, "pub": KeyPair().public, "codecs": ["opus"], **more}
    return {name: value for name, value in arguments.items() if value is not None}


class Engine:
    """One participant with a socket of its own."""

    def __init__(self, app: App, tone: int = 0):
        self.tone = tone
        """What it says, in Hz; 0: nothing."""
        self.socket = MediaSocket(app)
        self.channel = ""
        self.answer: dict = {}
        self.path: MediaPath | None = None

    async def join(self, url: str, channel: str, uid: int = 0, **more: object) -> "Engine":
        """Says hello at a gateway, joins, checks the path, and begins to speak. `more` as in `join_arguments`."""
        pair = KeyPair()
        self.channel = channel
        await self.socket.open(url)
        self.answer = await self.socket.call("media.join", **join_arguments(channel, uid, pub=pair.public, **more))
        keys = pair.agree(self.answer["pub"], self.pid)
        SPOKEN.media_key(keys.client)
        SPOKEN.media_key(keys.server)
        self.path = await MediaPath(Address.of(self.answer), keys).open()
        if self.tone:
            self.path.speak(Tone(self.tone))
        return self

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

    def changes(self) -> list[MediaEvent]:
        """The events about the roster, in the order of arrival."""
        return [event for event in self.socket.events if event.type in ("joined", "left", "state")]

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
            await self.socket.close()
