"""The rules, found by looking into the files of this folder; and what they find in a script."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules

from ..rule import Finding, Rule
from ..script import Script

_FILES = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
_FOUND = (rule for file in _FILES for rule in vars(file).values() if isinstance(rule, Rule))
RULES = tuple(sorted(_FOUND, key=lambda rule: rule.id))
"""In the order of their names."""


def findings(script: Script, rules: Sequence[Rule] = RULES) -> list[Finding]:
    """What the rules find in a script, by line; nothing where it is not about privacy. One finding a rule and line."""
    if not script.about_privacy:
        return []
    found: dict[tuple[int, str], Finding] = {}
    for rule in rules:
        for node, slip in rule.find(script):
            line, column = script.position(node)
            cell, within = script.places[line - 1] if script.places else (None, line)
            finding = Finding(script.path, within, column, rule.id, slip.problem, slip.remedy, cell, rule.level)
            found.setdefault((line, rule.id), finding)
    in_order = sorted(found, key=lambda place: (place[0], found[place].column, place[1]))
    return [found[place] for place in in_order]
