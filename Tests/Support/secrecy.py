"""What no log may hold: tokens, certificates, the secrets of lines, and the texts that users send each other.

Clients note what they send and get (`SPOKEN`); when a stack ends, its logs are searched for all of it.
"""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

# Shorter texts (`hi`, `1`) occur in logs by chance.
LEAST_CHARACTERS = 12
MOST_CHARACTERS = 60
# Characters that logs and JSON write unescaped.
PLAIN = re.compile(r"[A-Za-z0-9 _,;!?*/+=-]+")
# The arguments of calls that hold users' texts.
BODIES = ("content", "msg", "extra", "value")


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

    def _note(self, kind: str, text: str) -> None:
        longest = max(PLAIN.findall(text), key=len, default="").strip()[:MOST_CHARACTERS].strip()
        if len(longest) >= LEAST_CHARACTERS:
            self.pieces[longest] = kind

    def leaks(self, directory: Path) -> list[str]:
        """The places in the files of a folder that hold a secret: which, file and line."""
        # Indexed by their first characters: a suite sends tens of thousands of texts, and each log is read once.
        known: dict[str, list[str]] = {}
        for piece in self.pieces:
            if not any(piece in name for name in self.innocent):
                known.setdefault(piece[:LEAST_CHARACTERS], []).append(piece)
        found = []
        for log in sorted(path for path in directory.rglob("*") if path.is_file()):
            text = log.read_text(errors="replace")
            told = set()
            for at in range(len(text) - LEAST_CHARACTERS + 1):
                for piece in known.get(text[at:at + LEAST_CHARACTERS], ()):
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
