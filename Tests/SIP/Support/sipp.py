"""sipp, run with scenarios that are made in Python; tests examine its message log."""

import datetime
import re
import signal

from messages import SIPMessage
from peers import LOOPBACK, Peer, Peers, free_port

# Longer than any wait inside a scenario, so that a scenario that hangs ends with sipp's own message.
RECEIVE_MS = 20_000
DONE_SECONDS = 60
_LOGGED = re.compile(
    r"^-{20,} (\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d\.\d+).*\n"
    r"(?:UDP|TCP|TLS|SCTP) message (received|sent) .*\n\n", re.MULTILINE)


class Sipp(Peer):
    """One run of sipp, which ends by itself when its calls are over.

    `scenario` is XML text of scenarios.py. With `target` (host, port) it calls there, else it waits to be called. A
    `patient` one waits for a minute where others wait for 20 s.
    """

    # On SIGTERM it waits for its calls.
    end_signals = (signal.SIGKILL,)

    def __init__(
        self, peers: Peers, scenario: str, *, target: tuple[str, int] | None = None, port: int | None = None,
        host: str = LOOPBACK, transport: str = "u1", calls: int = 1, extra: tuple[str, ...] = (), log_messages: bool = True,
        seconds: int = DONE_SECONDS, patient: bool = False,
    ):
        directory = peers.room("sipp")
        (directory / "scenario.xml").write_text(scenario)
        self.log_path = directory / "messages.log"
        self.error_path = directory / "errors.log"
        port = port or free_port(host)
        command = [
            "sipp", "-sf", "scenario.xml", "-i", host, "-p", str(port), "-t", transport, "-m", str(calls), "-nostdin",
            # The control port is not used here, but two instances of sipp cannot share one.
            "-cp", str(free_port()), "-recv_timeout", str(RECEIVE_MS * (3 if patient else 1)),
            "-timeout", f"{seconds}s", "-timeout_error", "-trace_err", "-error_file", str(self.error_path), *extra]
        if log_messages:
            command += ["-trace_msg", "-message_file", str(self.log_path)]
        if target is not None:
            command.append(f"{target[0]}:{target[1]}")
        super().__init__("sipp", command, directory, port)
        # A calling sipp may have ended before its port was checked.
        self.waits = target is None

    async def start(self) -> None:
        if self.waits:
            await super().start()
        else:
            await self.launch()

    async def done(self) -> list[SIPMessage]:
        """Waits for the end of its calls, checks that all followed the scenario, and returns the messages."""
        status = await self.process.wait()
        assert status == 0, f"sipp ended with {status}, messages in {self.directory}\n{self.errors}"
        return self.messages

    @property
    def errors(self) -> str:
        return self.error_path.read_text(errors="replace")[-4000:] if self.error_path.exists() else self.output[-1000:]

    @property
    def messages(self) -> list[SIPMessage]:
        """What it received and sent so far."""
        text = self.log_path.read_text(errors="replace") if self.log_path.exists() else ""
        marks = list(_LOGGED.finditer(text))
        ends = [mark.start() for mark in marks[1:]] + [len(text)]
        return [_message(mark, text[mark.end():end]) for mark, end in zip(marks, ends)]

    def received(self, kind: str | int) -> list[SIPMessage]:
        """Requests of one method, or responses of one status, that it received so far."""
        return [m for m in self.messages if m.received and kind in (m.method, m.status)]

    def sent(self, kind: str | int) -> list[SIPMessage]:
        """Requests of one method, or responses of one status, that it sent so far."""
        return [m for m in self.messages if not m.received and kind in (m.method, m.status)]


def _message(mark: re.Match, text: str) -> SIPMessage:
    at = datetime.datetime.fromisoformat(f"{mark[1]} {mark[2][:15]}").timestamp()
    return SIPMessage.parse(text, mark[3] == "received", at)

