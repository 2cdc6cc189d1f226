"""For mkdocstrings: a table of the arguments of each function and the fields of each class.

Docstrings say of an argument `name: what it means.` in prose; here these sentences become a table with types and
defaults, and the fields of a class have no headings of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import griffe


class Arguments(griffe.Extension):
    """Once a package is read, and its dataclasses have constructors."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        for each in _objects(pkg, set()):
            if isinstance(each, griffe.Function):
                _tabled(each, {one.name: one for one in each.parameters if one.name not in ("self", "cls")}, "Args")
            elif each.is_class:
                fields = {name: member for name, member in each.members.items() if _is_field(name, member)}
                _tabled(each, fields, "Attributes")
                for name, member in fields.items():
                    if member.docstring is None:
                        each.members.pop(name)


def _objects(of: Any, seen: set[str]) -> Iterator[Any]:
    for member in list(of.members.values()):
        if member.is_alias or member.path in seen:
            continue
        seen.add(member.path)
        yield member
        if member.is_module or member.is_class:
            yield from _objects(member, seen)


def _is_field(name: str, member: Any) -> bool:
    return not name.startswith("_") and not member.is_alias and member.is_attribute and "property" not in member.labels


def _tabled(each: Any, known: dict[str, Any], heading: str) -> None:
    """Its docstring with a section for what it takes, which mkdocstrings shows as a table."""
    if not known:
        return
    text, meant = described(each.docstring.value if each.docstring else "", tuple(known))
    if heading == "Args" and not meant:
        return
    rows = [_row(name, one, meant.get(name, ""), heading) for name, one in known.items()]
    section = "\n".join([f"{heading}:", *rows])
    before, example, after = text.partition("\n>>> ")
    value = "\n\n".join(filter(None, (before.strip(), section, f">>> {after}" if example else "")))
    if each.docstring is None:
        each.docstring = griffe.Docstring(value, parent=each)
    else:
        each.docstring.value = value


def _row(name: str, one: Any, meaning: str, heading: str) -> str:
    """A line of the section; the table of a function's arguments has a column of its own for the defaults."""
    kind = f" ({one.annotation})" if one.annotation is not None else ""
    default = one.value if heading == "Attributes" and one.value is not None else ""
    shown = f" Default: `{default}`." if default and "field(" not in str(default) else ""
    return f"    {name}{kind}: {meaning or '(no description)' * (not shown)}{shown}"


def described(text: str, names: tuple[str, ...]) -> tuple[str, dict[str, str]]:
    """The docstring without its sentences `name: meaning`, and each name's meaning."""
    if not names:
        return text, {}
    listed = "|".join(map(re.escape, names))
    start = re.compile(rf"(?:^|(?<=[.;] )|(?<=\n))((?:{listed})(?:(?:, | and )(?:{listed}))*): ")
    meant: dict[str, str] = {}
    kept = []
    for paragraph in text.split("\n\n"):
        if ">>> " in paragraph:
            kept.append(paragraph)
            continue
        line = " ".join(paragraph.split())
        found = list(start.finditer(line))
        if not found:
            kept.append(paragraph)
            continue
        ends = [*(each.start() for each in found[1:]), len(line)]
        rest = line[: found[0].start()].strip()
        for each, end in zip(found, ends, strict=True):
            meaning, raised, more = line[each.end() : end].partition(" Raises ")
            for name in re.split(r", | and ", each[1]):
                meant[name] = meaning.strip().rstrip(";").rstrip(".") + "."
            rest = f"{rest}\n\nRaises {more}".strip() if raised else rest
        if rest:
            kept.append(rest)
    return "\n\n".join(kept), meant
