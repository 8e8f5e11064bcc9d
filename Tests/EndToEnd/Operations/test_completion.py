"""`heliographctl --generate-completion-script`: bash completes its words, and there are scripts for other shells."""

import pytest
from stack_control import BINARIES, run_program

CONTROL = str(BINARIES / "heliographctl")


@pytest.mark.parametrize("line, wanted", [
    ("heliographctl us", ["user"]),
    ("heliographctl expo", ["export"]),
    ("heliographctl apply --dr", ["--dry-run"]),
    ("heliographctl user k", ["kick"]),
    ("heliographctl user b", ["ban", "bans"]),
    ("heliographctl doctor --st", ["--strict"]),
    ("heliographctl webhook replay --si", ["--since"]),
    ("heliographctl webhook replay --u", ["--until"]),
    ("heliographctl call list --state t", ["talking"]),
])
def test_completion_in_bash(tmp_path, line: str, wanted: list[str]):
    script = tmp_path / "heliographctl.bash"
    script.write_text(run_program(CONTROL, "--generate-completion-script", "bash").stdout)
    words = line.split()
    asked = f"""
        set -eu
        source {script}
        COMP_WORDS=({' '.join(words)}) COMP_CWORD={len(words) - 1} COMP_LINE='{line}' COMP_POINT={len(line)} COMPREPLY=()
        set +eu
        "$(complete -p heliographctl | sed 's/.*-F \\([^ ]*\\).*/\\1/')" heliographctl {words[-1]} {words[-2]}
        printf '%s\\n' "${{COMPREPLY[@]}}"
        """
    done = run_program("bash", "-c", asked)
    assert done.returncode == 0, done.stderr
    assert [word.strip() for word in done.stdout.split("\n") if word.strip()] == wanted


@pytest.mark.parametrize("shell, words", [("zsh", "#compdef heliographctl"), ("fish", "complete -c 'heliographctl'")])
def test_completion_scripts_of_other_shells(shell: str, words: str):
    done = run_program(CONTROL, "--generate-completion-script", shell)
    assert done.returncode == 0 and words in done.stdout and "reshard-check" in done.stdout
