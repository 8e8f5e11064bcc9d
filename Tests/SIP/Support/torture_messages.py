"""Messages that probe the edges of RFC 3261, 4475 and 5118; their texts and their form are in Tests/Fixtures/sip/torture.txt."""

import re
from dataclasses import dataclass

from stack_control import ROOT

_HEAD = {
    "line": "{method} sip:desk@127.0.0.1 SIP/2.0",
    "via": "Via: SIP/2.0/UDP 127.0.0.1:$PORT;rport;branch=z9hG4bK-{name}",
    "max-forwards": "Max-Forwards: 70",
    "from": "From: <sip:ada@observatory.example>;tag=head",
    "to": "To: <sip:desk@127.0.0.1>",
    "call-id": "Call-ID: {name}-$PORT@observatory.example",
    "cseq": "CSeq: 1 {method}",
}


@dataclass(frozen=True)
class TortureMessage:
    """One message, and what the bridge's stack makes of it."""

    name: str
    source: str
    """The RFC and the section that it probes."""
    outcome: str
    """A status, `accepted` or `ignored`."""
    data: bytes

    def sent_from(self, port: int) -> bytes:
        return self.data.replace(b"$PORT", str(port).encode())


def torture_messages() -> list[TortureMessage]:
    text = (ROOT / "Tests" / "Fixtures" / "sip" / "torture.txt").read_text()
    return [_message(block) for block in re.split(r"^=== ", text, flags=re.MULTILINE)[1:]]


def _message(block: str) -> TortureMessage:
    title, *lines = block.split("\n")
    name, source, outcome, _ = title.split(" | ")
    # What follows the last line's end, and the empty line before the next title.
    lines = lines[:-2] if lines[-2:] == ["", ""] else lines[:-1]
    return TortureMessage(name, source, outcome, _encode(name, lines))


def _encode(name: str, lines: list[str]) -> bytes:
    data = b""
    for index, line in enumerate(lines):
        if line.startswith("@head "):
            data += _head(name, *_plain(line).decode("latin-1").split()[1:])
        elif line == "@end":
            data += b"Content-Length: 0\r\n\r\n"
        elif line.startswith("@body "):
            body = _encode(name, lines[index + 1:])
            return data + f"Content-Type: {line[6:]}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
        else:
            runs_on = line.endswith("\\") and not line.endswith("\\\\")
            data += _plain(line[:-1] if runs_on else line) + (b"" if runs_on else b"\r\n")
    return data


def _head(name: str, method: str, *left_out: str) -> bytes:
    return b"".join(
        line.format(method=method, name=name).encode() + b"\r\n" for field, line in _HEAD.items() if f"-{field}" not in left_out)


def _plain(text: str) -> bytes:
    text = re.sub(r"\\\{(\d+):([^}]*)}", lambda found: found[2] * int(found[1]), text)
    return re.sub(r"\\(?:x([0-9a-f]{2})|\\)", lambda found: chr(int(found[1] or "5c", 16)), text).encode("latin-1")
