"""What no log may hold: tokens, certificates, the secrets of lines and of media, and the texts that users send each other.

Clients note what they send and get (`SPOKEN`); when a stack ends, its logs are searched for all of it.
"""

import base64
import json
import re
from dataclasses import dataclass, field
from pathlib import Path

# Shorter texts (`hi`, `1`) occur in logs by chance.
LEAST_CHARACTERS = 12
# Random ones don't: a ufrag has 8.
LEAST_RANDOM = 8
MOST_CHARACTERS = 60
# Characters that logs and JSON write unescaped.
PLAIN = re.compile(r"[A-Za-z0-9 _,;!?*/+=-]+")
# The arguments of calls that hold users' texts.
BODIES = ("content", "msg", "extra", "value")
# The members of media calls and their answers that are secret, and the lines of descriptions (SDP) that are, or that are in no other one.
MEDIA_SECRETS = ("secret", "ufrag", "pwd")
SDP_SECRETS = re.compile(r"^(?:a=ice-ufrag:|a=ice-pwd:|o=)([^\r\n]+)", re.MULTILINE)


@dataclass
class Spoken:
    """The secrets of one run, by the text to search for."""

    pieces: dict[str, str] = field(default_factory=dict)
    """A part of each secret, and what it is a part of."""
    innocent: set[str] = field(default_factory=set)
    """Names, which logs may hold, also where a body equals a name."""

    def token(self, token: str) -> None:
        """Notes a token's digest, its only secret part: the rest is an app id and a time."""
        self._note("a token", token.rsplit(":", 1)[-1])

    def certificate(self, certificate: str) -> None:
        self._note("a certificate", certificate)

    def line(self, line: str) -> None:
        """`SESSION.SECRET.APP.ACCOUNT`: all but the secret may be logged."""
        fields = line.split(".")
        if len(fields) > 1:
            self._note("a line", fields[1])

    def body(self, text: object) -> None:
        """Notes a text of a user. Of JSON only the values are noted: the names of its members, such as SIP's headers, are no secrets."""
        if isinstance(text, str):
            try:
                said = json.loads(text)
            except ValueError:
                said = None
            if isinstance(said, dict | list):
                self.body(said)
            else:
                self._note("a body", text)
        elif isinstance(text, dict | list):
            for value in text.values() if isinstance(text, dict) else text:
                self.body(value)

    def name(self, text: str) -> None:
        """An account, a channel or an app."""
        self.innocent.add(text)

    def call(self, arguments: dict) -> None:
        """Notes the bodies among a call's arguments."""
        for name in BODIES:
            self.body(arguments.get(name))

    def media(self, fields: dict) -> None:
        """Notes the secrets of a media call's arguments, or of its answer."""
        self.body(fields.get("info"))
        for name in MEDIA_SECRETS:
            if isinstance(fields.get(name), str):
                self._note(f"a participant's {name}", fields[name], LEAST_RANDOM)
        for name in ("offer", "answer"):
            if isinstance(fields.get(name), str):
                for line in SDP_SECRETS.findall(fields[name]):
                    self._note(f"a line of an {name}", line, LEAST_RANDOM)

    def media_key(self, key: bytes) -> None:
        """Notes a key of SRTP, as it might be written."""
        self._note("a media key", key.hex())
        self._note("a media key", base64.b64encode(key).decode())

    def dynamic_key(self, text: str) -> None:
        """Notes the signature of a key of version 003 or 004, and the text of one of version 005, which holds it."""
        self._note("a dynamic key", text if text.startswith("005") else text[3:43])

    def _note(self, kind: str, text: str, least: int = LEAST_CHARACTERS) -> None:
        longest = max(PLAIN.findall(text), key=len, default="").strip()[:MOST_CHARACTERS].strip()
        if len(longest) >= least:
            self.pieces[longest] = kind

    def leaks(self, directory: Path) -> list[str]:
        """The places in the files of a folder that hold a secret: which, file and line."""
        # Indexed by their first characters: a suite sends tens of thousands of texts, and each log is read once.
        known: dict[str, list[str]] = {}
        for piece in self.pieces:
            if not any(piece in name for name in self.innocent):
                known.setdefault(piece[:LEAST_RANDOM], []).append(piece)
        found = []
        for log in sorted(path for path in directory.rglob("*") if path.is_file()):
            text = log.read_text(errors="replace")
            told = set()
            for at in range(len(text) - LEAST_RANDOM + 1):
                for piece in known.get(text[at:at + LEAST_RANDOM], ()):
                    if piece not in told and text.startswith(piece, at):
                        told.add(piece)
                        found.append(f"{self.pieces[piece]} in {log.name}, line {text.count(chr(10), 0, at) + 1}")
        return found


SPOKEN = Spoken()


def check_logs(directory: Path) -> None:
    """Fails when the logs of a stack hold secrets."""
    logs = directory / "logs"
    assert logs.is_dir(), f"no logs in {directory}"
    leaks = SPOKEN.leaks(logs)
    assert not leaks, f"logs tell secrets ({logs}): {leaks[:20]}"
