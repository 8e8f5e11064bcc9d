"""How the gateway serves the console's and the playground's files: headers, tags, and only when it is told to."""

import os
import re
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from requests import Session
from stack_control import Stack

PAGES = Path(__file__).resolve().parents[2] / "Services" / "Gateway" / "Pages"
SECONDS = 20
PATHS = dict(re.findall(r'PageFile\("([^"]+)", PackageResources\.(\w+)', (PAGES / "PageFile.swift").read_text()))
FILES = {path for path in PAGES.glob("*/*") if path.suffix in (".html", ".css", ".js", ".svg")}


@pytest.fixture
def browse(stack: Stack):
    """Requests a path of the first gateway's API port, without following redirects."""
    session = Session()
    session.trust_env = False
    return lambda path, method="GET", **headers: session.request(
        method, stack.endpoints["api"][0] + path, headers=headers, timeout=SECONDS, allow_redirects=False)


def resource(path: Path) -> str:
    """The name that SwiftPM gives to a file."""
    return re.sub(r"\W", "_", path.name)


def test_every_file_has_a_path():
    assert sorted(PATHS.values()) == sorted(resource(path) for path in FILES)


@pytest.mark.parametrize("path", PATHS)
def test_files_are_served_as_they_are(browse, path: str):
    file = next(file for file in FILES if resource(file) == PATHS[path])
    answer = browse(path)
    assert answer.status_code == 200 and answer.content == file.read_bytes()
    kinds = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
    assert answer.headers["Content-Type"].startswith(kinds[file.suffix])
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'")
    for rule in ("frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'"):
        assert rule in policy
    assert "unsafe" not in policy and ("ws:" in policy) == path.startswith("/playground")
    assert answer.headers["X-Content-Type-Options"] == "nosniff" and answer.headers["X-Frame-Options"] == "DENY"
    assert answer.headers["Cache-Control"] == "no-cache" and answer.headers["Referrer-Policy"] == "no-referrer"


def test_a_file_that_the_browser_has_is_not_sent_again(browse):
    tag = browse("/playground/").headers["ETag"]
    for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        answer = browse("/playground/", **{"If-None-Match": known})
        assert (answer.status_code, answer.content) == (304, b"") and answer.headers["ETag"] == tag
    assert browse("/playground/", **{"If-None-Match": '"other"'}).status_code == 200


def test_head_redirects_and_what_is_not_there(browse):
    whole = browse("/playground/")
    head = browse("/playground/", "HEAD")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["Content-Length"] == str(len(whole.content)) and head.headers["ETag"] == whole.headers["ETag"]
    moved = browse("/playground")
    assert (moved.status_code, moved.headers["Location"]) == (308, "/playground/")
    for path in ("/playground/../v1/key", "/playground/nothing.js", "/pages/", "/playground//", "/PLAYGROUND/"):
        answer = browse(path)
        assert answer.status_code in (401, 404) and answer.headers["Content-Type"] == "application/problem+json"
    assert browse("/playground/", "POST").status_code == 404


def test_discovery_at_the_same_port(browse, stack: Stack):
    answer = browse("/getaddr?vid=demo")
    ports = {int(address.rsplit(":", 1)[-1]) for address in stack.gateways}
    assert {port for _, port in answer.json()["web"]} == ports
    assert "Access-Control-Allow-Origin" not in answer.headers
    assert browse("/getaddr?vid=demo&channel=" + "x" * 2000).status_code == 400


def test_pages_name_nothing_of_other_hosts():
    for file in FILES:
        text = file.read_text()
        if file.suffix != ".js":
            assert not re.search(r"(href|src)=.?(https?:)?//", text) and "@import" not in text and "url(" not in text, file
        if file.suffix == ".html":
            assert "style=" not in text and "onclick" not in text and not re.search(r"<script(?![^>]*src)", text), file
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text), file


def test_off_unless_it_is_told_to(make_stack, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(os.environ, "HELIOGRAPH_GATEWAY_API_PAGES", "false")
    stack = make_stack(gateways=1)
    for path in ("/playground/", "/playground", "/getaddr?vid=demo"):
        request = urllib.request.Request(stack.endpoints["api"][0] + path)
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=SECONDS)
        assert refused.value.code == 404
