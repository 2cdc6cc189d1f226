"""For MkDocs: every link and picture of every page that was built leads somewhere, no page shows markup, and none needs
another server: a site that is opened as files has a search, too.

MkDocs checks the links of Markdown; the record's pages, and what hooks write, are HTML.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from mkdocs.exceptions import PluginError

MARKUP = re.compile(r"\\[<>~_*]|\$(?=\S)[^$\n]*\\[a-zA-Z]+[^$\n]*\$")
"""A backslash that Markdown left behind, or TeX."""


ASKS = {
    "api.github.com": 'data-md-component="source"',
    "${e}": 'data-md-component="source"',
    "unpkg.com": 'class="mermaid"',
}
"""Servers that scripts of the theme ask, each only where a page has this: none has."""

NAMED = {
    *("www.w3.org", "clipboardjs.com", "bit.ly", "fontawesome.com", "lunrjs.com", "tartarus.org", "github.com"),
    *("snowball.tartarus.org", "chasen.org", "code.google.com", "docs.python.org", "en.wikipedia.org"),
    *("msdn.microsoft.com", "narwhaljs.org", "people.mozilla.org", "underscorejs.org", "wiki.commonjs.org"),
    *("wiki.ecmascript.org", "www.mozilla.org", "developer.mozilla.org", "mozilla.github.io"),
}
"""Servers that scripts name, in comments and as names of formats, and do not ask."""

SERVER = re.compile(r"""https?://([^/"'`\s):;,]+)""")


class Page(HTMLParser):
    """Links, names that can be linked to, and the text outside of code."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.names: set[str] = set()
        self.text: list[str] = []
        self.asks: set[str] = set()
        self._code = 0
        written = path.read_text("utf-8")
        self.asks |= {server for server, markup in ASKS.items() if markup in written}
        self.feed(written)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        self._code += tag in ("code", "pre", "script", "style")
        self.names |= {name for key in ("id", "name") if (name := told.get(key))}
        self.links += [link for key in ("href", "src") if (link := told.get(key))]
        if tag in ("script", "img", "iframe") or told.get("rel") == "stylesheet":
            self.loaded += [link for key in ("href", "src") if (link := told.get(key))]

    def handle_endtag(self, tag: str) -> None:
        self._code -= tag in ("code", "pre", "script", "style")

    def handle_data(self, data: str) -> None:
        if not self._code:
            self.text.append(data)


@cache
def page(path: Path) -> Page:
    return Page(path)


def on_post_build(config: Any, **_: Any) -> None:
    """Fails the build with every link that leads nowhere and every page that shows markup."""
    site = Path(config.site_dir)
    pages = sorted(site.rglob("*.html"))
    found = [problem for path in pages if path.name != "404.html" for problem in problems(path, site)]
    found += [problem for path in sorted(site.rglob("*")) for problem in asked(path, site)]
    page.cache_clear()
    if found:
        raise PluginError(f"{len(found)} faults in the site:\n" + "\n".join(found[:50]))
    print(f"{len(pages)} pages: every link leads somewhere", flush=True)


def asked(path: Path, site: Path) -> Iterator[str]:
    """Servers that a script or a style of the site may ask, and that are not known to be left alone."""
    if path.suffix not in (".js", ".css"):
        return
    for server in sorted({*SERVER.findall(path.read_text("utf-8"))} - ASKS.keys() - NAMED):
        yield f"{path.relative_to(site)}: asks {server}, another server"


def problems(path: Path, site: Path) -> Iterator[str]:
    """What is wrong with a page."""
    named = path.relative_to(site)
    for link in page(path).loaded:
        if urlsplit(link).netloc:
            yield f"{named}: {link} is on another server"
    for server in sorted(page(path).asks):
        yield f"{named}: its {ASKS[server]} makes a script ask {server}, another server"
    for link in page(path).links:
        address = urlsplit(link)
        if address.scheme or address.netloc or link.startswith(("data:", "mailto:")):
            continue
        target = (path.parent / unquote(address.path)).resolve() if address.path else path
        target = target / "index.html" if target.is_dir() else target
        if not target.is_file():
            yield f"{named}: {link} is not there"
        elif address.fragment and target.suffix == ".html" and unquote(address.fragment) not in page(target).names:
            yield f"{named}: {link} has no such place"
    shown = MARKUP.search("".join(page(path).text))
    if shown is not None:
        yield f"{named}: shows {shown.group()[:60]!r}"
