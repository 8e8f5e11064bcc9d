"""Sequence diagrams in Mermaid's language, as HTML: a column for each participant, a row for each message."""

import html
import re

PARTICIPANT = re.compile(r"participant (\w+)(?: as (.+))?$")
MESSAGE = re.compile(r"(\w+)(--?>>?)(\w+): (.+)$")
NOTE = re.compile(r"Note over (\w+)(?:,(\w+))?: (.+)$")
BLOCK = re.compile(r"(opt|loop|alt|else|par|and)\b ?(.*)$")


class DiagramError(Exception):
    """What is not understood of a diagram."""


def sequence(text: str) -> str:
    """The diagram. Participants are half a column from its sides, so each has two columns of the grid."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    if not lines or lines[0] != "sequenceDiagram":
        raise DiagramError("a diagram is not a sequenceDiagram")
    names: dict[str, str] = {}
    # What each row has: its columns, its class and its text.
    rows: list[tuple[str, str, str]] = []
    for line in lines[1:]:
        if found := PARTICIPANT.match(line):
            names[found[1]] = found[2] or found[1]
        elif found := MESSAGE.match(line):
            rows.append(_message(_place(names, found[1]), _place(names, found[3]), found[4], found[2].startswith("--")))
        elif found := NOTE.match(line):
            first, last = sorted((_place(names, found[1]), _place(names, found[2] or found[1])))
            rows.append(_note(first, last, len(names), found[3]))
        elif found := BLOCK.match(line):
            rows.append(("1/-1", "part", f"<b>{found[1]}</b> {html.escape(found[2])}"))
        elif line == "end":
            rows.append(("1/-1", "part end", ""))
        else:
            raise DiagramError(f"a line of a diagram is not understood: {line}")
    heads = "".join(f'<div class="who" style="grid-column:{2 * place + 1}/span 2">{html.escape(name)}</div>'
                    for place, name in enumerate(names.values()))
    lives = "".join(f'<i class="life" style="left:{(place + 0.5) / len(names) * 100:.3f}%"></i>' for place in range(len(names)))
    style = f"grid-template-columns:repeat({2 * len(names)},1fr);min-width:{10 * len(names)}rem"
    body = "".join(f'<div class="{kind}" style="grid-row:{place};grid-column:{columns}">{text}</div>'
                   for place, (columns, kind, text) in enumerate(rows, 2))
    return f'<div class="scroll"><div class="sequence" style="{style}">{lives}{heads}{body}</div></div>\n'


def _place(names: dict[str, str], name: str) -> int:
    if name not in names:
        raise DiagramError(f"a diagram has no participant {name}")
    return list(names).index(name)


def _message(start: int, end: int, text: str, answer: bool) -> tuple[str, str, str]:
    if start == end:
        return _note(start, end, end + 1, text)
    first, last = sorted((start, end))
    kind = ("back" if end < start else "forth") + (" answer" if answer else "")
    return f"{2 * first + 2}/{2 * last + 2}", f"message {kind}", _text(text)


def _note(first: int, last: int, width: int, text: str) -> tuple[str, str, str]:
    """A note is wider than its participant, so that its text needs few lines."""
    start, end = max(1, 2 * first), min(2 * width, 2 * last + 3)
    return f"{start}/{end + 1}", "note", _text(text)


def _text(text: str) -> str:
    """Text whose names of files may be broken before their endings."""
    return re.sub(r"(?<=\w)([.+])(?=\w)", r"<wbr>\1", html.escape(text))
