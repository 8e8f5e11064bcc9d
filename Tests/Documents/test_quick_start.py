"""The page of Docs/quick-start.md in a browser."""

import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Browser
from command_lines import pages
from stack_control import ROOT, Stack


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """The address of a web server with the page and the client."""
    block = next(block for block in pages()["Docs/quick-start.md"] if block.file == "hello.html")
    (tmp_path / "hello.html").write_text(f"{block.text}<script type=module>window.isReady = true</script>", encoding="utf-8")
    (tmp_path / "heliograph.js").symlink_to(ROOT / "Clients" / "web" / "heliograph.js")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/hello.html"
    server.shutdown()
    server.server_close()


async def test_the_page_talks_to_itself(stack: Stack, served: str):
    browser = Browser()
    try:
        address = f"{served}?app={stack.open_app.id}&discovery={stack.endpoints['gateways'][0]['http']}"
        async with browser.open(address) as page:
            await page.eventually("document.body.innerText.includes('bert: hello all')", "the channel repeats what was said")
    finally:
        browser.close()
