"""The command lines of the documents: those that are marked run on a cluster, the others are known to their programs."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from command_lines import Block, blocks, mentions, pages, problems, program_of, unknown_to_control
from secrecy import SPOKEN
from stack_control import BINARIES, ROOT, Stack, clean_environment, unique

RUN_SECONDS = 60
RUNNABLE = sorted(page for page, found in pages().items() if any(block.marked for block in found))
# What differs from one run to the next: times, digests, keys, other numbers.
VOLATILE = re.compile(r"\d{4}-\d\d-\d\dT[\d:]+Z|(?<![^\W_])[0-9a-f]{8,}(?![^\W_])|\d+")


def pattern(line: str) -> re.Pattern[str]:
    """A line of output of a page: numbers may differ, `...` is anything."""
    parts = ["[0-9a-fTZ:-]+".join(re.escape(part) for part in VOLATILE.split(piece)) for piece in line.split("...")]
    return re.compile(".*".join(parts))


# The clients that a page's programs have beside them.
BESIDE = ("Clients/server-python/heliograph_server.py", "Clients/server-node/heliograph-server.mjs")


def prepared(stack: Stack, page: str, folder: Path) -> dict[str, str]:
    """The environment of a page's shell: the one that `Scripts/stack environment` prints. In the folder are the page's files."""
    for block in pages()[page]:
        if block.file:
            (folder / block.file).write_text(block.text, encoding="utf-8")
    for name in BESIDE:
        shutil.copy(ROOT / name, folder)
    tools = folder / ".tools"
    tools.mkdir()
    (tools / "python3").symlink_to(ROOT / ".venv" / "bin" / "python")
    done = subprocess.run(
        ["bash", "-c", f"{stack.run('environment').stdout}\nenv"], env=clean_environment(HELIOGRAPH_BIN=str(BINARIES)),
        capture_output=True, text=True, check=True)
    environment = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    # The interpreter itself, which finds its packages by its own path.
    return environment | {"PATH": f"{ROOT / '.venv' / 'bin'}:{environment['PATH']}", "no_proxy": "*"}


def run(page: str, environment: dict[str, str], folder: Path, app: str) -> None:
    """Runs the marked blocks in one shell; each command must end well, with the output that the page shows."""
    commands = [(block, *command) for block in pages()[page] if block.marked for command in block.commands]
    script = ["set -euo pipefail"]
    for number, (_, command, _) in enumerate(commands):
        script.append(f"{{ {re.sub(r'(?<![A-Z_])APP(?![A-Z_])', app, command)}\n}} >out.{number} 2>err.{number}")
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)], cwd=folder, env=environment, capture_output=True, text=True, timeout=RUN_SECONDS, check=False)
    for number, (block, command, wanted) in enumerate(commands):
        output, errors = (folder / f"out.{number}", folder / f"err.{number}")
        ran = output.exists() and (done.returncode == 0 or (folder / f"out.{number + 1}").exists())
        assert ran, f"{block.place}: {command}\nfailed: {output.read_text() if output.exists() else ''}{errors.read_text()}"
        lines = output.read_text().splitlines()
        matches = len(lines) == len(wanted) and all(pattern(one).fullmatch(other) for one, other in zip(wanted, lines, strict=True))
        assert not wanted or matches, f"{block.place}: {command}\nsays:\n" + "\n".join(lines)


@pytest.mark.parametrize("page", RUNNABLE)
def test_marked_commands_run(stack: Stack, tmp_path: Path, page: str):
    app = unique("page")
    # The page's commands use certificates and tokens, which no log may have.
    stack.control("app", "create", f"--id={app}", "--certificate", certificate := unique("certificate"))
    SPOKEN.certificate(certificate)
    run(page, prepared(stack, page, tmp_path), tmp_path, app)


@pytest.mark.parametrize("page", pages())
def test_other_commands_are_known_to_their_programs(page: str):
    found = [what for block in pages()[page] if block.is_commands for what in problems(block)]
    assert not found, "\n".join(found)


def test_commands_in_texts_exist():
    found = {page: mentions((ROOT / page).read_text(encoding="utf-8")) for page in pages()}
    assert sum(map(len, found.values())) > 20
    wrong = [f"{page}: {span}: {what}" for page, spans in found.items() for span in spans
             for what in unknown_to_control(span.split()[1:], whole=False)]
    assert not wrong, "\n".join(wrong)
    assert unknown_to_control(["app", "creat"], whole=False) and unknown_to_control(["app", "limit", "--none"], whole=False)


def test_marks_stand_before_commands():
    misplaced = [block.place for found in pages().values() for block in found if block.marked and not block.is_commands]
    assert not misplaced
    # Each mark belongs to a block: text between the two would separate them.
    for page, found in pages().items():
        assert (ROOT / page).read_text(encoding="utf-8").count("\n<!-- run -->\n") == sum(block.marked for block in found), page
    assert len(RUNNABLE) >= 3 and sum(block.is_commands for found in pages().values() for block in found) > 30


BAD = [
    "heliographctl app creat", "heliographctl app create --opne", "heliographctl app limit", "heliographctl app limit a b", "heliographctl app",
    "heliographctl token mint --app a --account", "make no-such-target", "Scripts/stack up --gatways 3", "Scripts/stack upp", "curl --no-such x",
    "docker compose up --scaled gateway=3", "docker compose -f docker-compose.none.yml up", "docker compose run --rm migrate heliographctl nothing",
    "docker start x", "kubectl delete x", "nosuchprogram --option x", "psql --no-such", "echo $(heliographctl nothing)", "true | heliographctl nothing",
]


@pytest.mark.parametrize("command", BAD)
def test_wrong_commands_are_noticed(command: str):
    block, = blocks("page", f"```sh\n{command}\n```\n")
    assert problems(block)
    # Without a language, too.
    block, = blocks("page", f"    {command}\n")
    assert block.is_commands and problems(block)


def test_blocks_are_read_as_they_are_meant():
    text = "a\n\n<!-- run -->\n```console\n$ one \\\n    --two\nout\n$ three\n```\n\n    make test\n\n```\ntext\n```\n"
    first, second, third = blocks("page", text)
    assert first.marked and first.commands == [("one \\\n    --two", ["out"]), ("three", [])]
    assert not second.marked and second.is_commands and not third.is_commands
    assert pattern("key hk_3f9c1a5e77d20b46_...").fullmatch("key hk_aaaaaaaaaaaaaaaa_zz") and not pattern("uid 1").fullmatch("uid x")


def test_programs_are_recognised():
    assert program_of("heliographctl x") and program_of("A=1 make x") and program_of("Scripts/stack up") and not program_of("web, Python")
    assert isinstance(pages()["README.md"][0], Block)
