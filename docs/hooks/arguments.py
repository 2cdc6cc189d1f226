"""For mkdocstrings: a table of the arguments of each function and the fields of each class.

Docstrings say of an argument `name: what it means.` in prose; here these sentences become a table with types and
defaults, and the fields of a class have no headings of their own. Of what a docstring does not say, the description is
the one in the field's type, Annotated[float, Quantity(check, "of the noise")], or that of the name (arguments.toml).
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import griffe

COMMON: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
RANGES = {
    "positive": "above 0",
    "nonnegative": "at least 0",
    "open_probability": "in (0, 1)",
    "delta_below_one": "from 0 to below 1",
    "rate": "in (0, 1]",
    "count": "a whole number, at least 1",
    "several": "a whole number, at least 2",
    "range_over_sensitivity": "at least 1",
}
"""What the checks of mechanisms/validate.py let through."""

MISSING = "(no description)"


class Arguments(griffe.Extension):
    """Once a package is read, and its dataclasses have constructors."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        found = list(_objects(pkg, set()))
        for each in found:
            _inherit(each)
        for each in found:
            if isinstance(each, griffe.Function):
                _tabled(each, {one.name: one for one in each.parameters if one.name not in ("self", "cls")}, "Args")
            elif each.is_class:
                fields = {name: member for name, member in each.members.items() if _is_field(name, member)}
                _tabled(each, _taken(each, fields), "Attributes")
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


def _inherit(each: Any) -> None:
    """A method that says nothing of itself does what the one that it overrides says."""
    if each.docstring is None and isinstance(each, griffe.Function) and each.parent.is_class:
        above = (base.members.get(each.name) for base in each.parent.mro())
        told = next((one.docstring for one in above if one is not None and one.docstring), None)
        each.docstring = griffe.Docstring(told.value, parent=each) if told else None


def _taken(each: griffe.Class, fields: dict[str, Any]) -> dict[str, Any]:
    """What a constructor takes and what else the docstring describes; of a dataclass its fields are both."""
    constructor = each.members.get("__init__")
    if not isinstance(constructor, griffe.Function) or "dataclass" in each.labels:
        return fields
    taken = {one.name: one for one in constructor.parameters if one.name != "self" and "var" not in str(one.kind)}
    told = described(each.docstring.value, tuple(fields))[1] if each.docstring else {}
    return taken | {name: fields[name] for name in told if name not in taken}


def _tabled(each: Any, known: dict[str, Any], heading: str) -> None:
    """Its docstring with a section for what it takes, which mkdocstrings shows as a table."""
    if not known:
        return
    text, meant = described(each.docstring.value if each.docstring else "", tuple(known))
    rows = [_row(name, one, meant.get(name, ""), heading) for name, one in known.items()]
    section = "\n".join([f"{heading}:", *rows])
    before, example, after = text.partition("\n>>> ")
    value = "\n\n".join(filter(None, (before.strip(), section, f">>> {after}" if example else "")))
    each.docstring = each.docstring or griffe.Docstring("", parent=each)
    each.docstring.value = value  # as it is: the constructor would take the section's indentation away


def _row(name: str, one: Any, meaning: str, heading: str) -> str:
    """A line of the section; the table of a function's arguments has a column of its own for the defaults."""
    kind, quantity = _type(str(one.annotation or ""))
    default = getattr(one, "value", None) or getattr(one, "default", None) if heading == "Attributes" else None
    shown = f" Default: `{default}`." if default and "field(" not in str(default) else ""
    told = meaning or quantity or f"{COMMON.get(name, MISSING)}."
    return f"    {name}{f' ({kind})' if kind else ''}: {told}{shown}"


def _type(annotation: str) -> tuple[str, str]:
    """What Annotated[float, Quantity(check, "of the noise")] says: the type, and a sentence with the range."""
    if "Annotated[" not in annotation:
        return annotation, ""
    quantities = _Quantities()
    kind = ast.unparse(quantities.visit(ast.parse(annotation, mode="eval")))
    text = "; ".join(filter(None, quantities.words))
    return kind, f"{text[0].upper()}{text[1:]}." if text else ""


class _Quantities(ast.NodeTransformer):
    """Leaves the types of Annotated[type, Quantity(check, words)], and keeps the words and the range of the check."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:  # the name that ast calls
        if ast.unparse(node.value) != "Annotated":
            return node
        kind, *told = node.slice.elts
        for each in (one for one in told if ast.unparse(one).startswith("Quantity(")):
            check, words = (*each.args, ast.Constant(""))[:2]
            self.words += [
                ast.literal_eval(words),
                RANGES.get(re.sub(r"optional\((\w+)\)", r"\1", ast.unparse(check)), ""),
            ]
        return kind


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
