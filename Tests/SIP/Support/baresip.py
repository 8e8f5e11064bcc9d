"""baresip, controlled over its TCP control port, which also reports its events."""

import asyncio
import itertools
import json

from peers import LOOPBACK, Peer, Peers, free_port, is_bound
from waiting import eventually

MODULES = "/usr/lib/baresip/modules"
ANSWER_SECONDS = 10


class Baresip(Peer):
    """A softphone without sound devices.

    `user` is the number or name that it has; `account` are the parameters after the address, such as `;mediaenc=srtp`; `settings` more lines
    of its config file.
    """

    def __init__(
        self, peers: Peers, *, user: str = "phone", transport: str = "udp", account: str = "", settings: str = "",
        modules: tuple[str, ...] = (),
    ):
        directory = peers.room("baresip")
        sip, self.control_port = free_port(), free_port()
        # Its TLS listener is one above its plain one.
        self.sip_port = sip + 1 if transport == "tls" else sip
        self.uri = f"sip:{user}@{LOOPBACK}:{self.sip_port}"
        (directory / "accounts").write_text(f"<{self.uri};transport={transport}>;regint=0{account}\n")
        (directory / "contacts").write_text("")
        # An account's settings are read when its module is loaded, so modules that they name must be loaded before.
        names = ("g711", "aubridge", *modules, "account", "menu", "ctrl_tcp")
        (directory / "config").write_text(
            f"sip_listen {LOOPBACK}:{sip}\nmodule_path {MODULES}\n"
            + "".join(f"module {name}.so\n" for name in names) +
            f"ctrl_tcp_listen {LOOPBACK}:{self.control_port}\naudio_source aubridge,a\naudio_player aubridge,a\n"
            f"audio_alert aubridge,b\nringback_disabled yes\nrtp_ports {free_port()}-20999\n"
            f"net_interface {LOOPBACK}\n{settings}")
        super().__init__("baresip", ["baresip", "-f", str(directory), "-v", "-s"], directory, self.control_port)
        self.events: list[dict] = []
        self._tokens = itertools.count(1)
        self._answers: dict[str, asyncio.Future] = {}
        self._reader: asyncio.Task | None = None

    async def start(self) -> None:
        await super().start()
        await eventually(lambda: is_bound(self.sip_port), "baresip listens for SIP")
        reader, self._writer = await asyncio.open_connection(LOOPBACK, self.control_port)
        self._reader = asyncio.create_task(self._read(reader))

    async def stop(self) -> None:
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)
            self._writer.close()
        await super().stop()

    async def command(self, name: str, parameters: str = "") -> str:
        """Sends a command; returns baresip's answer."""
        token = f"t{next(self._tokens)}"
        answer = self._answers[token] = asyncio.get_running_loop().create_future()
        text = json.dumps({"command": name, "params": parameters, "token": token}).encode()
        self._writer.write(b"%d:%s," % (len(text), text))
        data = await asyncio.wait_for(answer, ANSWER_SECONDS)
        assert data["ok"], f"baresip: {name}: {data}"
        return data.get("data", "")

    async def dial(self, uri: str) -> None:
        await self.command("dial", uri)

    async def accept(self) -> None:
        await self.command("accept")

    async def hang_up(self) -> None:
        await self.command("hangup")

    async def press(self, digits: str) -> None:
        """Presses and releases keys."""
        for digit in digits:
            await self.command("sndcode", digit)

    async def hears(self, text: str) -> None:
        """Waits until baresip has received these digits, and no others."""
        await eventually(lambda: len(self.digits) >= len(text), f"baresip hears {text!r}; it heard {self.digits!r}")
        assert self.digits == text

    async def happens(self, kind: str, count: int = 1) -> dict:
        """Waits for the nth event of a kind, such as CALL_INCOMING."""
        await eventually(lambda: len(self.of_kind(kind)) >= count, f"baresip reports {kind}; it reported {self.kinds}")
        return self.of_kind(kind)[count - 1]

    def of_kind(self, kind: str) -> list[dict]:
        return [event for event in self.events if event["type"] == kind]

    @property
    def kinds(self) -> list[str]:
        return [event["type"] for event in self.events]

    @property
    def digits(self) -> str:
        """The keys that its peer pressed."""
        return "".join(event["param"] for event in self.of_kind("CALL_DTMF_START"))

    async def _read(self, reader: asyncio.StreamReader) -> None:
        while length := await reader.readuntil(b":"):
            data = json.loads(await reader.readexactly(int(length[:-1])))
            await reader.readexactly(1)
            if data.get("event"):
                self.events.append(data)
            elif (answer := self._answers.pop(data.get("token", ""), None)) is not None and not answer.done():
                answer.set_result(data)
