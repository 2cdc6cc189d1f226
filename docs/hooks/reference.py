"""For MkDocs: the reference pages name what they describe, and indexes list the pages below them.

`<!-- names of dpcert.mechanisms: Gaussian, Laplace -->` on a page becomes the description of each; without a list, of
every public name. Each is looked up where it is defined: dpcert.accounting.epsilon is a module, too. `<!-- index -->`
becomes a table of the names on the pages in the folder of the index's own name, each with its first sentence.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
NAMES = re.compile(r"<!-- names of ([\w.]+)(?::(.*?))? -->", re.DOTALL)
INDEX = "<!-- index -->"
OPTIONS = "{show_root_heading: true, show_root_toc_entry: true, show_root_full_path: false, heading_level: 2}"


def described(text: str) -> list[tuple[str, str]]:
    """(package, name) of all that a page describes."""
    listed = NAMES.findall(text)
    return [(package, name) for package, some in listed for name in re.findall(r"\w+", some) or public(package)]


@cache
def _tree(package: str) -> ast.Module:
    place = ROOT / "src" / package.replace(".", "/")
    return ast.parse((place / "__init__.py" if place.is_dir() else place.with_suffix(".py")).read_text("utf-8"))


@cache
def public(package: str) -> tuple[str, ...]:
    """The package's __all__: its names, or [*NAME], the keys of a table of them."""
    assigned = {
        node.targets[0].id: node.value
        for node in _tree(package).body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    found = assigned["__all__"]
    if (
        isinstance(found, ast.List)
        and isinstance(found.elts[0], ast.Starred)
        and isinstance(found.elts[0].value, ast.Name)
    ):
        found = assigned[found.elts[0].value.id]
    return tuple(ast.literal_eval(found))


@cache
def defined(package: str, name: str) -> str:
    """The module that the package takes the name from, followed to where it is written."""
    for node in ast.walk(_tree(package)):
        if isinstance(node, ast.ImportFrom) and any(one.name == name for one in node.names):
            above = package if (ROOT / "src" / package.replace(".", "/")).is_dir() else package.rpartition(".")[0]
            return defined(f"{above}.{node.module}", name)
    return package


def first_sentence(package: str, name: str) -> str:
    """What the docstring of a class, a function or a constant begins with."""
    body = _tree(defined(package, name)).body
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
            return _sentence(ast.get_docstring(node) or "")
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            told = after.value.value if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) else ""
            return _sentence(str(told))
    return ""


def _sentence(text: str) -> str:
    line = " ".join(text.split("\n\n")[0].split())
    return re.split(r"(?<=[^.]\.) (?=[A-Z])", line)[0].replace("|", r"\|")


def _index(folder: Path) -> str:
    lines = []
    for path in sorted(folder.glob("*.md"), key=lambda path: path.name):
        text = path.read_text("utf-8")
        address = f"{folder.name}/{path.name}"
        title = text.splitlines()[0].removeprefix("# ")
        lines += [f"\n## [{title}]({address})\n", "| name | what it is |", "|---|---|"]
        for package, name in described(text):
            place = f"{address}#{defined(package, name)}.{name}"
            lines.append(f"| [`{name}`]({place}) | {first_sentence(package, name)} |")
    return "\n".join(lines)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    if not page.file.src_uri.startswith("reference/"):
        return markdown
    path = REFERENCE.parent / page.file.src_uri
    if INDEX in markdown:
        markdown = markdown.replace(INDEX, _index(path.with_suffix("")))

    def each(found: re.Match[str]) -> str:
        return "\n\n".join(
            f"::: {defined(package, name)}.{name}\n    options: {OPTIONS}" for package, name in described(found.group())
        )

    return NAMES.sub(each, markdown)
