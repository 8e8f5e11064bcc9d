"""The command lines of the documents: where they are, and whether the programs know their words and options."""

import functools
import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from stack_control import BINARIES, ROOT

MARK = "<!-- run -->"
SHELL = ("sh", "bash", "console")
PAGES = ("README.md", "CONTRIBUTING.md", "Docs/*.md", "Docs/monitoring/*.md")
# Pages that a script writes have no commands of their own.
GENERATED = ("Docs/conformance.md",)
# What belongs to the shell itself.
BUILTINS = {"alias", "export", "eval", "cd", "true", "echo"}
# What commands follow in a loop of the shell, and its end.
KEYWORDS = {"until", "while", "do", "done"}
OPTION = re.compile(r"^--?[A-Za-z][\w-]*")
# A line that is a command of some program: its first word is a name, and an option follows.
LOOKS_LIKE_COMMAND = re.compile(r"^(?:\$ )?[a-z][\w./-]* (?:[^|<>={}]* )?--?[a-z][\w-]*\b")
# The words and options of programs that need not be on this machine, as their references name them.
DECLARED = {
    "docker": {"compose", "stop", "rm", "-t"},
    "kubectl": {"-n", "create", "apply", "exec", "port-forward", "namespace", "secret", "generic", "-f", "--from-file", "rollout", "status", "patch", "--patch-file"},
    "swift": {"build", "run", "test", "-c", "--filter", "--build-tests"},
    # Its options are its settings.
    "redis-server": {
        "--cluster-enabled", "--cluster-node-timeout", "--cluster-require-full-coverage", "--cluster-allow-pubsubshard-when-down",
        "--appendonly", "--dir", "--port", "--replicaof", "--sentinel", "sentinel.conf"},
}
# How a program is asked for all its options, where `--help` is not enough.
ASKED_BY = {"curl": (("--help", "all"),), "redis-cli": (("--help",), ("--cluster", "help"))}


@dataclass
class Block:
    """A block of code of a page."""

    page: str
    line: int
    language: str
    file: str
    text: str
    marked: bool

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def is_commands(self) -> bool:
        """Whether it is for a shell: it says so, or it has no language and begins with the name of a program."""
        if self.language:
            return self.language in SHELL
        first = self.text.strip().split("\n")[0]
        return first.startswith("$ ") or program_of(first) is not None or bool(LOOKS_LIKE_COMMAND.match(first))

    @property
    def commands(self) -> list[tuple[str, list[str]]]:
        """Its commands, each with the lines of its output. Only in blocks with `$ ` there is output."""
        prompted = any(line.startswith("$ ") for line in self.text.splitlines())
        found: list[tuple[str, list[str]]] = []
        goes_on = False
        for line in self.text.splitlines():
            if goes_on:
                found[-1] = (f"{found[-1][0]}\n{line}", [])
            elif line.startswith("$ ") or (not prompted and line.strip()):
                found.append((line.removeprefix("$ "), []))
            elif prompted and found:
                found[-1][1].append(line)
            goes_on = bool(found) and not found[-1][1] and line.endswith("\\")
        return found


def blocks(page: str, text: str) -> list[Block]:
    """The blocks of code of a page, in order."""
    found = []
    marked = False
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.type in ("fence", "code_block"):
            language, _, file = token.info.strip().partition(" ")
            found.append(Block(page, token.map[0] + 1, language, file, token.content, marked))
        marked = token.type == "html_block" and token.content.strip() == MARK
    return found


@functools.cache
def pages() -> dict[str, list[Block]]:
    """The blocks of all pages."""
    names = sorted(str(path.relative_to(ROOT)) for pattern in PAGES for path in ROOT.glob(pattern))
    return {name: blocks(name, (ROOT / name).read_text(encoding="utf-8")) for name in names if name not in GENERATED}


def program_of(line: str) -> str | None:
    """The program that a line begins with, if it is one that can be asked or is declared."""
    words = line.split()
    while words and re.match(r"^[A-Z_]+=", words[0]):
        words.pop(0)
    word = words[0] if words else ""
    known = word in DECLARED or word in BUILTINS or (BINARIES / word).is_file() and "/" not in word
    return word if known or is_script(word) or (re.fullmatch(r"[a-z][\w.-]*", word) and shutil.which(word)) else None


def is_script(word: str) -> bool:
    """Whether it is a program of this repository, or of its virtual environment."""
    path = ROOT / word
    return "/" in word and not word.startswith("/") and path.is_file() and bool(path.stat().st_mode & 0o100)


def simple_commands(command: str) -> Iterator[list[str]]:
    """The programs that a command line calls, each with its words: the parts of pipes and lists, and of `$(...)`."""
    for inner in re.findall(r"\$\(((?:[^()]|\([^()]*\))*)\)", command):
        yield from simple_commands(inner)
    lexer = shlex.shlex(re.sub(r"\$\(((?:[^()]|\([^()]*\))*)\)", "VALUE", command.replace("\\\n", " ")), posix=True, punctuation_chars="|&;<>")
    lexer.commenters = "#"
    lexer.whitespace_split = True
    words: list[str] = []
    for word in lexer:
        if word and set(word) <= set("|&;"):
            yield words
            words = []
        elif word and set(word) <= set("<>"):
            # With what it is redirected to.
            next(lexer, None)
        else:
            words.append(word)
    yield words


def problems(block: Block) -> list[str]:
    """What is wrong with the commands of a block, by the programs' own words."""
    found = []
    for command, _ in block.commands:
        for words in simple_commands(command):
            while words and (words[0] in KEYWORDS or re.match(r"^[A-Z_]+=", words[0])):
                words.pop(0)
            if words and words[0] not in BUILTINS:
                found += [f"{block.place}: {what}" for what in unknown(words)]
    return found


def unknown(words: list[str]) -> list[str]:
    """What a program does not know of the words that it is called with."""
    program, arguments = words[0], words[1:]
    if program == "heliographctl" or Path(program).name == "heliographctl":
        return unknown_to_control(arguments)
    if program == "make":
        return [f"make has no {word}" for word in arguments if re.fullmatch("[a-z-]+", word) and word not in targets()]
    if (program, arguments[:1]) == ("docker", ["compose"]):
        return unknown_to_compose(arguments[1:])
    if program == "kubectl" and "--" in arguments:
        place = arguments.index("--")
        return unknown([program, *arguments[:place]]) + unknown(arguments[place + 1:])
    if program in DECLARED:
        wanted = {option(word) for word in arguments if OPTION.match(word)} | {word for word in arguments[:1] if OPTION.match(word) is None}
        return [f"{program} {word} is not declared" for word in sorted(wanted - DECLARED[program])]
    if is_script(program):
        return unknown_to_script(program, arguments)
    path = BINARIES / program if (BINARIES / program).is_file() else shutil.which(program)
    if not path:
        return [f"{program} is neither here nor declared"]
    if program == "xargs":
        inner = next((place for place, word in enumerate(arguments) if word == "redis-cli"), len(arguments))
        return unknown_options("xargs", help_of("xargs", "--help"), arguments[:inner]) + (unknown(arguments[inner:]) if inner < len(arguments) else [])
    text = "".join(help_of(str(path), *words) for words in ASKED_BY.get(program, (("--help",),)))
    return unknown_options(program, text, arguments)


def option(word: str) -> str:
    """The option of a word, without its value."""
    return OPTION.match(word)[0]


def unknown_options(program: str, text: str, arguments: list[str]) -> list[str]:
    """The options that a help text does not name. Letters after one dash are options of their own, if the text has none by the whole name."""
    found = []
    for word in arguments:
        if word == "--":
            break
        if not OPTION.match(word):
            continue
        names = [option(word)]
        if not word.startswith("--") and not names_option(text, word):
            names = [f"-{letter}" for letter in names[0][1:2 if re.search(r"\d", word) else None]]
        found += [f"{program} has no {name}" for name in names if not names_option(text, name)]
    return found


def names_option(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None


@functools.cache
def help_of(*command: str) -> str:
    """What a program says of itself."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout + done.stderr


@functools.cache
def targets() -> set[str]:
    """The targets of the Makefile."""
    return set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def unknown_to_compose(arguments: list[str]) -> list[str]:
    """What docker-compose does not know. Its files must exist."""
    found = []
    while arguments and arguments[0].startswith("-"):
        name, value, *arguments = arguments
        if name != "-f":
            found.append(f"docker compose {name} is not expected before the command")
        elif not (ROOT / value).is_file():
            found.append(f"there is no {value}")
    # `run` and `exec` pass what follows the service on.
    own = arguments
    if arguments[0] in ("run", "exec"):
        service = next(place for place, word in enumerate(arguments) if place and not word.startswith("-"))
        own = arguments[:service]
        if rest := arguments[service + 1:]:
            found += unknown(rest)
    text = help_of("docker-compose", arguments[0], "--help")
    if "Usage" not in text:
        return [*found, f"docker compose has no {arguments[0]}"]
    return found + unknown_options("docker compose", text, own[1:])


def unknown_to_script(program: str, arguments: list[str]) -> list[str]:
    """What a script of the repository does not know: it says so by `--help`, or has its options in its text."""
    path = ROOT / program
    if program == "Scripts/stack":
        words = [word for word in arguments if not word.startswith("-")]
        text = help_of(str(path), *words[:1], "--help")
        return [f"{program} has no {words[0]}"] if words and "invalid choice" in text else unknown_options(program, text, arguments)
    if program.startswith(".venv/"):
        return unknown_options(program, help_of(str(path), "--help"), arguments)
    return unknown_options(program, path.read_text(encoding="utf-8"), arguments)


@functools.cache
def control() -> dict:
    """All commands of heliographctl, with their options."""
    return json.loads(help_of(str(BINARIES / "heliographctl"), "--experimental-dump-help"))["command"]


def mentions(text: str) -> list[str]:
    """The commands of heliographctl that a page names within its text."""
    spans = [child.content for token in MarkdownIt("commonmark").enable("table").parse(text) for child in token.children or []
             if child.type == "code_inline"]
    return [span for span in spans if span.startswith("heliographctl ")]


def unknown_to_control(arguments: list[str], whole: bool = True) -> list[str]:
    """What heliographctl does not know: a command, an option; or more or fewer arguments than it takes, if the command line is whole."""
    command, path, words = control(), "heliographctl", list(arguments)
    while command.get("subcommands") and words:
        match = next((part for part in command["subcommands"] if part["commandName"] == words[0]), None)
        if match is None:
            return [f"{path} has no command {words[0]}"]
        command, path = match, f"{path} {words.pop(0)}"
    if command.get("subcommands"):
        return [f"{path} needs a command"] if whole else []
    names = {("--" if name["kind"] == "long" else "-") + name["name"]: argument
             for argument in command.get("arguments", []) for name in argument.get("names", [])}
    found, positional, only_positional = [], 0, False
    while words:
        word = words.pop(0)
        if word == "--":
            only_positional = True
        elif only_positional or not OPTION.match(word):
            positional += 1
        elif (name := word.partition("=")[0]) not in names:
            found.append(f"{path} has no {name}")
        elif names[name]["kind"] == "option" and "=" not in word:
            if not words and whole:
                found.append(f"{path} {name} needs a value")
            words = words[1:]
            while names[name]["parsingStrategy"] == "upToNextOption" and words and not words[0].startswith("-"):
                words.pop(0)
    places = [argument for argument in command.get("arguments", []) if argument["kind"] == "positional"]
    fewest = sum(not argument["isOptional"] for argument in places)
    most = 1000 if any(argument["isRepeating"] for argument in places) else len(places)
    return found if not whole or fewest <= positional <= most else [*found, f"{path} takes {fewest} to {most} arguments, not {positional}"]
