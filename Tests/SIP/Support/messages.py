"""SIP messages as they were seen on the wire."""

import re
from dataclasses import dataclass, field

# Compact forms that peers may use (RFC 3261 section 7.3.3, RFC 4028).
_COMPACT = {
    "v": "via", "f": "from", "t": "to", "i": "call-id", "m": "contact", "l": "content-length", "c": "content-type",
    "x": "session-expires", "k": "supported"}


@dataclass(frozen=True)
class SIPMessage:
    """One message; `received` says whether the peer that logged it had received it."""

    received: bool
    start: str
    headers: list[tuple[str, str]] = field(hash=False)
    body: str
    at: float = 0
    """Unix seconds; 0 when the log has no time."""

    @staticmethod
    def parse(text: str, received: bool, at: float = 0) -> "SIPMessage":
        head, _, body = text.replace("\r\n", "\n").lstrip("\n").partition("\n\n")
        start, *lines = head.split("\n")
        headers = []
        for line in lines:
            name, _, value = line.partition(":")
            name = name.strip().lower()
            headers.append((_COMPACT.get(name, name), value.strip()))
        return SIPMessage(received, start, headers, body, at)

    @property
    def is_request(self) -> bool:
        return not self.start.startswith("SIP/2.0 ")

    @property
    def method(self) -> str:
        """The method of a request; empty for responses."""
        return self.start.split(" ")[0] if self.is_request else ""

    @property
    def status(self) -> int:
        """The status of a response; 0 for requests."""
        return 0 if self.is_request else int(self.start.split(" ")[1])

    @property
    def uri(self) -> str:
        """The target of a request."""
        return self.start.split(" ")[1]

    def all(self, name: str) -> list[str]:
        """The values of a header, in order."""
        return [value for header, value in self.headers if header == name.lower()]

    def header(self, name: str) -> str:
        """The first value of a header; empty when it is not there."""
        return next(iter(self.all(name)), "")

    @property
    def audio_port(self) -> int:
        """Where the sender's session description asks for audio."""
        return int(re.search(r"^m=audio (\d+)", self.body, re.MULTILINE).group(1))

    @property
    def event_type(self) -> int:
        """The RTP payload type that the sender's session description gives telephone-events."""
        return int(re.search(r"^a=rtpmap:(\d+) telephone-event/8000", self.body, re.MULTILINE).group(1))

    @property
    def cseq(self) -> tuple[int, str]:
        number, method = self.header("CSeq").split()
        return int(number), method

    @property
    def branch(self) -> str:
        """The branch of the topmost Via."""
        return re.search(r"branch=([^;\s,]+)", self.header("Via")).group(1)

    def tag(self, name: str) -> str:
        """The tag of From or To; empty when there is none."""
        found = re.search(r";\s*tag=([^;\s]+)", self.header(name))
        return found.group(1) if found else ""
