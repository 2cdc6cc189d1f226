"""The record's pages, from its entries: the table, a page a claim and an author, the most common errors."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from .badge import badge
from .entry import Entry

KINDS = {
    "papers": "papers",
    "deployments": "deployments",
    "libraries": "libraries: tutorials, defaults, formulas",
    "seeds": "the papers that dpcert grew from",
}
ORDINARY = (
    "replace-one-sensitivity",
    "claim-is-loose",
    "no-certificate",
    "certificate-restates",
    "certificate-proves-less",
    "range-matters",
)
"""Findings that tell no error."""


def write_pages(entries: Sequence[Entry], place: Path) -> None:
    """Write all pages into the folder, which is emptied first."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    shutil.rmtree(place, ignore_errors=True)
    for folder in ("claims", "authors", "badges", "certificates"):
        (place / folder).mkdir(parents=True)
    environment = Environment(
        loader=PackageLoader(__package__, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["slug"] = slug

    def page(path: str, title: str, template: str, **told: Any) -> None:
        rendered = environment.get_template(f"{template}.html.j2").render(**told)
        body = re.sub(r"\n\s*\n", "\n", rendered)  # a blank line would end the block that Markdown leaves alone
        text = f"---\ntitle: {json.dumps(title, ensure_ascii=False)}\nhide: [toc]\n---\n\n{body}\n"
        (place / f"{path}.md").write_text(text, encoding="utf-8")

    told = [one.data | {"certificate": one.certificate is not None} for one in entries]
    counts = Counter(one["verdict"] for one in told)
    page("index", "The record", "table", entries=told, counts=counts, kinds=KINDS, root=".")
    for one, data in zip(entries, told, strict=True):
        page(f"claims/{one.slug}", data["title"], "claim", entry=data, evidence=_evidence(data), kinds=KINDS)
        (place / "badges" / f"{one.slug}.svg").write_text(
            badge(_claimed(data), data["verdict"], _evidence(data)), encoding="utf-8"
        )
        if one.certificate is not None:
            shutil.copyfile(one.certificate, place / "certificates" / f"{one.slug}.json")
    named = sorted({one["author"] for one in told})
    authors = {author: [one for one in told if one["author"] == author] for author in named}
    page("authors/index", "Authors", "authors", authors=authors)
    for author, theirs in authors.items():
        page(f"authors/{slug(author)}", author, "author", author=author, entries=theirs, kinds=KINDS, root="..")
    page("errors", "The most common errors", "errors", errors=_errors(told), total=len(told))
    for name in ("record.js", "record.css"):
        (place / name).write_text(files(__package__).joinpath(name).read_text("utf-8"), encoding="utf-8")


def _claimed(data: dict[str, Any]) -> str:
    return data["printed"] if " " in data["printed"] else f"epsilon {data['printed']}"


def _evidence(data: dict[str, Any]) -> str:
    """Where a badge leads, from the badges' folder or a claim's."""
    return f"../certificates/{data['slug']}.json" if data["certificate"] else f"../claims/{data['slug']}.html"


def _errors(told: list[dict[str, Any]]) -> list[tuple[str, str, list[dict[str, Any]]]]:
    """(finding, what it says of one of them, the claims that have it), the most frequent first."""
    found: dict[str, list[dict[str, Any]]] = {}
    example: dict[str, str] = {}
    for one in told:
        for finding in one["findings"]:
            if finding["id"] not in ORDINARY and finding["severity"] != "info":
                found.setdefault(finding["id"], []).append(one)
                example.setdefault(finding["id"], finding["text"])
    return [(name, example[name], having) for name, having in sorted(found.items(), key=lambda item: -len(item[1]))]


def slug(text: str) -> str:
    """A name for addresses: lower case letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "unnamed"
