"""The whole site: which pages there are, how they are linked, and what is wrong with them."""

import html
import json
import os
import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from string import Template

from pygments.formatters import HtmlFormatter

from .markdown import Rendered, colored, render

ASSETS = Path(__file__).resolve().parent / "assets"
# The navigation: pages by their paths in the repository. Those that do not exist are left out, and others are in the last group.
GROUPS = {
    "Start": ["README.md", "Docs/quick-start.md", "Docs/migration.md", "Docs/glossary.md"],
    "Apps": ["Docs/clients.md", "Docs/playground.md", "Docs/api.md", "Docs/webhooks.md", "Docs/phones.md", "Docs/media.md", "Docs/protocol.md", "Docs/bounds.md",
             "Docs/conformance.md"],
    "Operation": ["Docs/operations.md", "Docs/configuration.md", "Docs/security.md", "Docs/scaling.md", "Docs/upgrades.md", "Docs/console.md",
                  "Docs/psql.md", "Docs/monitoring/metrics.md", "Docs/monitoring/runbooks.md", "Docs/failure-modes.md"],
    "Inside": ["Docs/architecture.md", "Docs/threat-model.md", "Benchmarks/RESULTS.md", "CONTRIBUTING.md"],
}
REST = "More"
# Titles in the navigation that say more beside others.
SHORT = {"README.md": "Overview", "Benchmarks/RESULTS.md": "Benchmarks", "Docs/console.md": "Console"}
DECISIONS = "Docs/decisions/"
PAGES = re.compile(r"README\.md|CONTRIBUTING\.md|Benchmarks/RESULTS\.md|Docs/.*\.md")
TITLE = re.compile(r"# (.+)")
IMAGES = (".png", ".jpg", ".svg")
LONGEST_SOURCE = 400_000
SEARCHED_TEXT = 4_000
# What a page may not load from elsewhere; links may lead there.
LOADED = re.compile(r"""<(?:script|img|link|iframe|source)\b[^>]*\b(?:src|href)=["'](?:[a-z]+:)?//""")
LEADS_TO = re.compile(r"""\b(?:href|src)="([^"]*)\"""")
IDENTIFIED = re.compile(r'\bid="([^"]*)"')


@dataclass
class Page:
    """A page of Markdown in the repository, and where it is in the site."""

    path: str
    out: str
    rendered: Rendered

    @property
    def title(self) -> str:
        return self.rendered.title

    @property
    def short(self) -> str:
        """The title in the navigation."""
        return SHORT.get(self.path, self.title)


class Site:
    """What is built from the files of a repository."""

    def __init__(self, root: Path, names: Iterable[str]):
        self.root = root
        self.names = set(names)
        self.folders = {str(parent) for name in self.names for parent in Path(name).parents} - {"."}
        self.sources: dict[str, str] = {}
        """Files and folders that pages link to, as places in the site by path."""
        self.problems: list[str] = []
        texts = {path: (root / path).read_text(encoding="utf-8") for path in sorted(filter(PAGES.fullmatch, self.names))}
        self.titles = {path: found[1] for path, text in texts.items() if (found := TITLE.match(text))}
        self.pages = {path: Page(path, place_of(path), self._rendered(path, text)) for path, text in texts.items()}

    def _rendered(self, path: str, text: str) -> Rendered:
        rendered = render(text, lambda target: self._link(path, target), lambda target: self.titles.get(self._path(path, target)))
        if not rendered.title:
            rendered.problems.append("a page has no title")
        self.problems += [f"{path}: {problem}" for problem in rendered.problems]
        return rendered

    def _link(self, page: str, target: str) -> str:
        """Where a link of a page leads in the site. Anchors are checked when all pages are there."""
        if re.match("[a-z]+:", target):
            return target
        place, hash_, anchor = target.partition("#")
        if not place:
            return target
        path = self._path(page, target)
        if PAGES.fullmatch(path) and path in self.names:
            to = place_of(path)
        elif path + "/" == DECISIONS:
            to = "decisions/index.html"
        elif path in self.names or path in self.folders:
            to = self.sources.setdefault(path, path if path.endswith(IMAGES) else f"source/{path}{'/index' if path in self.folders else ''}.html")
        else:
            raise ValueError(f"a link to what does not exist: {target}")
        return relative(to, place_of(page)) + hash_ + anchor

    @staticmethod
    def _path(page: str, target: str) -> str:
        """The path in the repository that a link of a page names."""
        return posixpath.normpath(posixpath.join(posixpath.dirname(page), target.partition("#")[0]))

    @cached_property
    def groups(self) -> dict[str, list[Page]]:
        """The navigation, without the decisions."""
        found = {title: [self.pages[path] for path in paths if path in self.pages] for title, paths in GROUPS.items()}
        placed = {page.path for pages in found.values() for page in pages}
        found[REST] = [page for path, page in self.pages.items() if path not in placed and not path.startswith(DECISIONS)]
        return {title: pages for title, pages in found.items() if pages}

    @property
    def decisions(self) -> list[Page]:
        return [page for path, page in self.pages.items() if path.startswith(DECISIONS)]

    def navigation(self, out: str) -> str:
        """The list of all pages, as the page at `out` shows it."""
        parts = []
        for title, pages in self.groups.items():
            items = "".join(self._item(page.out, page.short, out) for page in pages)
            if title == "Inside" and self.decisions:
                items += self._item("decisions/index.html", "Decisions", out, out.startswith("decisions/"))
            parts.append(f"<h2>{title}</h2><ul>{items}</ul>")
        return "".join(parts)

    @staticmethod
    def _item(to: str, title: str, out: str, inside: bool = False) -> str:
        current = ' aria-current="page"' if to == out else ' class="inside"' if inside else ""
        return f'<li><a href="{relative(to, out)}"{current}>{html.escape(title)}</a></li>'

    def write(self, folder: Path) -> None:
        """Writes everything to the folder."""
        order = [page for pages in self.groups.values() for page in pages] + self.decisions
        for place, page in enumerate(order):
            neighbours = [("Before", order[place - 1])] if place else []
            neighbours += [("Next", order[place + 1])] if place + 1 < len(order) else []
            links = "".join(
                f'<a href="{relative(other.out, page.out)}" rel="{word.lower()}"><small>{word}</small>{html.escape(other.short)}</a>'
                for word, other in neighbours)
            self._page(folder, page.out, page.title, page.rendered.body + f'<nav class="neighbours" aria-label="Neighbours">{links}</nav>',
                       contents(page.rendered))
        if self.decisions:
            listed = "".join(f'<li><a href="{relative(page.out, "decisions/index.html")}">{html.escape(page.title)}</a></li>'
                             for page in self.decisions)
            self._page(folder, "decisions/index.html", "Decisions", f'<h1 id="decisions">Decisions</h1><ul class="plain">{listed}</ul>', "")
        for path, out in sorted(self.sources.items()):
            self._source(folder, path, out)
        for asset in ("style.css", "site.js"):
            (folder / asset).write_text((ASSETS / asset).read_text(encoding="utf-8") + (highlights() if asset == "style.css" else ""), encoding="utf-8")
        index = json.dumps(self._index(), ensure_ascii=False, separators=(",", ":"))
        (folder / "search.js").write_text(f"window.searchIndex = {index};\n", encoding="utf-8")

    def _page(self, folder: Path, out: str, title: str, body: str, aside: str) -> None:
        path = folder / out
        path.parent.mkdir(parents=True, exist_ok=True)
        template = Template((ASSETS / "page.html").read_text(encoding="utf-8"))
        name = "Heliograph" if out == "index.html" else f"{title} - Heliograph"
        path.write_text(template.substitute(
            title=html.escape(name), root=relative("index.html", out).removesuffix("index.html"), navigation=self.navigation(out), body=body,
            contents=aside), encoding="utf-8")

    def _source(self, folder: Path, path: str, out: str) -> None:
        """A file as it is, or the list of a folder's files."""
        if path in self.names and path.endswith(IMAGES):
            (folder / out).parent.mkdir(parents=True, exist_ok=True)
            (folder / out).write_bytes((self.root / path).read_bytes())
            return
        if path in self.folders:
            files = sorted(name for name in self.names if name.startswith(path + "/"))
            body = '<ul class="plain">' + "".join(f"<li><code>{html.escape(name)}</code></li>" for name in files) + "</ul>"
        else:
            text = (self.root / path).read_text(encoding="utf-8", errors="replace")[:LONGEST_SOURCE]
            body = f'<figure class="code" data-copy=""><pre tabindex="0"><code>{colored(text, "", path)}</code></pre></figure>'
        self._page(folder, out, path, f"<h1>{html.escape(path)}</h1>{body}", "")

    def _index(self) -> list[list[str]]:
        """What is searched: for each section the page's title, its own, its address and its text."""
        return [
            [page.short, section.title if section.level > 1 else "", page.out + (f"#{section.anchor}" if section.level > 1 else ""),
             re.sub(r"\s+", " ", " ".join(section.text))[:SEARCHED_TEXT]]
            for page in self.pages.values() for section in page.rendered.sections]


def contents(page: Rendered) -> str:
    """The list of a page's sections, when it has several."""
    listed = [section for section in page.sections if section.level in (2, 3)]
    if len(listed) < 2:
        return ""
    items = "".join(f'<li class="level{section.level}"><a href="#{section.anchor}">{html.escape(section.title)}</a></li>' for section in listed)
    return f'<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>{items}</ul></nav>'


def place_of(path: str) -> str:
    """Where a page is in the site."""
    if path == "README.md":
        return "index.html"
    return path.removeprefix("Docs/").removesuffix(".md").lower() + ".html"


def relative(to: str, page: str) -> str:
    """The address of a file of the site, as a page of it says it."""
    return os.path.relpath(to, posixpath.dirname(page) or ".")


def highlights() -> str:
    """The colors of code, for light and for dark."""
    light, dark = (HtmlFormatter(style=style).get_style_defs(".code") for style in ("default", "github-dark"))
    light = "\n".join(line for line in light.splitlines() if line.startswith(".code .") and "background" not in line)
    dark = "\n".join(line for line in dark.splitlines() if line.startswith(".code ."))
    return f"\n{light}\n@media (prefers-color-scheme: dark) {{\n{scoped(dark, ':root:not([data-theme=light]) ')}\n}}\n{scoped(dark, ':root[data-theme=dark] ')}\n"


def scoped(rules: str, scope: str) -> str:
    return "\n".join(scope + re.sub(r"background-color: #\w+;? ?", "", line) for line in rules.splitlines())


def broken(folder: Path) -> list[str]:
    """The links of the written site that lead nowhere, and what its pages would load from other hosts."""
    texts = {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.html"))}
    anchors = {name: set(IDENTIFIED.findall(text)) for name, text in texts.items()}
    found = []
    for name, text in texts.items():
        # Code is text, whatever it looks like: it is escaped.
        found += [f"{name} loads from elsewhere: {what}" for what in LOADED.findall(text)]
        found += [f"{name} has two things named {one}" for one in anchors[name] if text.count(f' id="{one}"') > 1]
        for address in set(LEADS_TO.findall(text)):
            place, _, anchor = html.unescape(address).partition("#")
            if re.match("[a-z]+:", place):
                continue
            to = posixpath.normpath(posixpath.join(posixpath.dirname(name), place)) if place else name
            if not (folder / to).is_file():
                found.append(f"{name} links to {to}, which does not exist")
            elif anchor and to in anchors and anchor not in anchors[to]:
                found.append(f"{name} links to #{anchor}, which {to} does not have")
    return found


def build(root: Path, names: Iterable[str], folder: Path) -> list[str]:
    """Writes the site of a repository to a folder; what is wrong with it."""
    site = Site(root, names)
    folder.mkdir(parents=True, exist_ok=True)
    site.write(folder)
    return site.problems + broken(folder)
