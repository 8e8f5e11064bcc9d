"""`heliographctl audit`: who did what to whom, page by page."""

import json

import pytest
from stack_control import BINARIES, Stack, run_program, unique


def test_entries_come_page_by_page(stack: Stack):
    app = stack.create_app(unique("audit")).id
    for seconds in range(1, 6):
        stack.control("token", "mint", "--app", app, "--account", f"user-{seconds}", "--ttl", str(seconds))
    seen, place = [], []
    while True:
        page = json.loads(stack.control("audit", "--app", app, "--limit", "2", "--json", *place))
        seen += [one["details"].get("seconds") for one in page["entries"]]
        if page["next"] is None:
            break
        place = ["--after", page["next"]]
    assert seen == [5, 4, 3, 2, 1, None]
    lines = stack.control("audit", "--app", app, "--limit", "1").splitlines()
    assert "  token.mint  " in lines[0] and "  user-5  by heliographctl " in lines[0] and lines[0].endswith('  {"seconds":5}')
    assert lines[1].startswith("more: --after '")
    # Of all apps, those too that are gone.
    assert json.loads(stack.control("audit", "--limit", "1000", "--json"))["entries"]
    assert stack.control("audit", "--app", "nobodys") == "no entries\n"


@pytest.mark.parametrize(("arguments", "reason"), [
    (("--limit", "0"), "--limit must be 1...1000"), (("--prefix", "x"), "--prefix is for names")])
def test_wrong_arguments(stack: Stack, arguments: tuple[str, str], reason: str):
    done = run_program(str(BINARIES / "heliographctl"), "audit", *arguments,
                       HELIOGRAPH_POSTGRES_URL=stack.endpoints["postgres"]["url"])
    assert done.returncode == 64 and reason in done.stderr


def test_the_trail_cannot_be_turned_off(stack: Stack):
    done = run_program(str(BINARIES / "heliographctl"), "retention", "set", "audit", "off",
                       HELIOGRAPH_POSTGRES_URL=stack.endpoints["postgres"]["url"])
    assert (done.returncode, "audit is always written" in done.stderr) == (1, True)
