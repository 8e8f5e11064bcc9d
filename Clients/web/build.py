#!/usr/bin/env python3
"""Makes heliograph.classic.js, for pages without modules, from heliograph.js; `--check` only says whether it is current."""

import re
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
SOURCE, CLASSIC = FOLDER / "heliograph.js", FOLDER / "heliograph.classic.js"
EXPORTED = "Signal"


def classic(module: str) -> str:
    """The module as a script that defines the global `Signal`."""
    body, exports = re.subn(rf"^export (?=function {EXPORTED}\b)", "", module, flags=re.MULTILINE)
    if exports != 1 or re.search(r"^(export|import)\b", body, re.MULTILINE):
        raise SystemExit(f"{SOURCE.name} must export {EXPORTED}, and nothing else, and import nothing")
    return (
        f"// Made from {SOURCE.name} by {Path(__file__).name}: change that one.\n"
        f'(function () {{\n"use strict";\n\n{body}\nglobalThis.{EXPORTED} = {EXPORTED};\n}})();\n')


def main() -> int:
    wanted = classic(SOURCE.read_text())
    if sys.argv[1:] == ["--check"]:
        current = CLASSIC.exists() and CLASSIC.read_text() == wanted
        print(f"{CLASSIC.name} is {'current' if current else f'out of date: run Clients/web/{Path(__file__).name}'}")
        return 0 if current else 1
    CLASSIC.write_text(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
