"""One page of Markdown as HTML: anchors as GitHub makes them, highlighted code, links between pages."""

import html
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import zip_longest

from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.util import ClassNotFound

from .diagram import DiagramError, sequence

FORMATTER = HtmlFormatter(nowrap=True)
FILE_NAME = re.compile(r"[\w./-]+\.md")
SHELLS = {"sh", "bash", "console"}


@dataclass
class Section:
    """A heading with the text under it, for the search and the list of contents."""

    level: int
    title: str
    anchor: str
    text: list[str] = field(default_factory=list)


@dataclass
class Rendered:
    """A page's HTML and what others need to know of it."""

    title: str
    body: str
    sections: list[Section]
    problems: list[str]

    @property
    def anchors(self) -> set[str]:
        return {section.anchor for section in self.sections}


def slug(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def colored(code: str, language: str, file: str = "") -> str:
    """Code as HTML, highlighted when the language is known."""
    try:
        lexer = get_lexer_for_filename(file) if file else get_lexer_by_name(language)
    except ClassNotFound:
        return html.escape(code)
    lexer.stripnl = False
    return highlight(code, lexer, FORMATTER)


def render(text: str, link: Callable[[str], str], title: Callable[[str], str | None]) -> Rendered:
    """Renders a page.

    `link` is what a link's address becomes; it raises ValueError for one that leads nowhere. `title` is the title of the page that an address
    names, if it is one: a link whose text is the page's file name shows that instead.
    """
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    tokens = parser.parse(text)
    page = Rendered("", "", [], [])
    used: dict[str, int] = {}
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            _heading(page, token, tokens[place + 1], used)
        elif token.type in ("inline", "fence", "code_block") and page.sections and tokens[place - 1].type != "heading_open":
            page.sections[-1].text.append(_plain(token))
        children = token.children or []
        for one, after in zip_longest(children, children[1:]):
            if one.type == "link_open" and after and after.type == "text" and FILE_NAME.fullmatch(after.content):
                after.content = title(str(one.attrGet("href"))) or after.content
            _address(page, one, link)
    parser.renderer.rules |= {
        "fence": lambda tokens, place, *_: _code(page, tokens[place]), "code_block": lambda tokens, place, *_: _code(page, tokens[place]),
        "table_open": lambda *_: '<div class="scroll"><table>\n', "table_close": lambda *_: "</table></div>\n",
        # Comments are for scripts and authors; there is no other HTML.
        "html_block": lambda tokens, place, *_: _comment(page, tokens[place]), "html_inline": lambda tokens, place, *_: _comment(page, tokens[place]),
        "heading_close": lambda tokens, place, *_: _permalink(tokens[place - 2]) + f"</{tokens[place].tag}>\n",
    }
    page.body = parser.renderer.render(tokens, parser.options, {})
    return page


def _heading(page: Rendered, token: Token, inline: Token, used: dict[str, int]) -> None:
    title = _plain(inline)
    anchor = slug(title)
    used[anchor] = used.get(anchor, -1) + 1
    anchor += f"-{used[anchor]}" if used[anchor] else ""
    level = int(token.tag[1])
    if (level == 1) == bool(page.title):
        page.problems.append("a page begins with its only first-level heading" if level == 1 else f"a heading before the title: {title}")
    page.title = page.title or title
    token.attrSet("id", anchor)
    page.sections.append(Section(level, title, anchor))


def _permalink(heading: Token) -> str:
    return f'<a class="permalink" href="#{heading.attrGet("id")}" aria-label="Link to this section">#</a>' if heading.tag != "h1" else ""


def _plain(token: Token) -> str:
    """The text of a token, as a reader sees it."""
    if token.children is None:
        return token.content
    return "".join(" " if child.type in ("softbreak", "hardbreak") else child.content for child in token.children if child.type != "html_inline")


def _address(page: Rendered, token: Token, link: Callable[[str], str]) -> None:
    name = {"link_open": "href", "image": "src"}.get(token.type)
    if name is None:
        return
    target = str(token.attrGet(name))
    try:
        token.attrSet(name, link(target))
        if token.type == "image" and re.match("[a-z]+:", target):
            page.problems.append(f"an image of another host: {target}")
    except ValueError as error:
        page.problems.append(str(error))


def _comment(page: Rendered, token: Token) -> str:
    if not token.content.strip().startswith("<!--"):
        page.problems.append(f"HTML that is no comment: {token.content.strip()[:60]}")
    return ""


def _code(page: Rendered, token: Token) -> str:
    language, _, file = token.info.strip().partition(" ")
    if language == "mermaid":
        try:
            return sequence(token.content)
        except DiagramError as error:
            page.problems.append(str(error))
            return ""
    if not language and re.match(r"(\$ )?(heliographctl|docker|kubectl|make|redis-cli|psql|pg_basebackup|curl|Scripts/|Docker/)", token.content):
        language = "sh"
    caption = f"<figcaption>{html.escape(file)}</figcaption>" if file else ""
    copied = "" if language in SHELLS and "\n$ " in f"\n{token.content}" else ' data-copy=""'
    name = "console" if language in SHELLS and not copied else {"sh": "bash"}.get(language, language)
    return f'<figure class="code"{copied}>{caption}<pre tabindex="0"><code>{colored(token.content, name or "text")}</code></pre></figure>\n'
