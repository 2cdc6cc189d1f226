"""Words of a closed list are members of a type (mechanisms/word.py): the accountants compare nothing with text.

A misspelt word in a comparison is no error, it is another answer; a misspelt member is one, before anything runs.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from .test_imports import ROOT, parsed

READ_FROM_OUTSIDE = {
    "accounting/billboard/observers.py: problem.field not in ('accountant', 'mechanism')": "the field of an error",
    "accounting/cohorts/bracket_store.py: named in ('', 'off')": "an environment variable",
    "accounting/currencies/risk.py: name != 'rtol'": "a keyword of the caller's",
    "accounting/ledger/individual.py: chosen.dtype.kind not in 'iu'": "numpy's kinds",
    "accounting/ledger/store.py: damage != 'ok'": "SQLite's answer",
    "accounting/ledger/store.py: there != {'events', 'head'}": "tables of a file",
    "accounting/participation/visible.py: bit == '1'": "a digit",
    "mechanisms/client_noise.py: field.name == 'mechanism'": "a field of a description",
    "mechanisms/events.py: choice('accountant', accountant, ('pld', 'rdp')) == 'pld'": "dp_accounting's accountants",
    "mechanisms/events.py: missing.name != 'dp_accounting'": "a package",
    "mechanisms/quantity.py: 'Annotated' in str(field.type)": "an annotation",
    "mechanisms/run.py: kind.__module__.split('.')[0] == 'dp_accounting'": "a package",
    "mechanisms/serialise.py: 'kind' not in data": "a key of JSON",
    "mechanisms/serialise.py: name != 'kind'": "a key of JSON",
    "mechanisms/tables/kinds.py: 'kind' not in value": "a key of a claim",
    "mechanisms/tables/noise.py: self.weights == 'uniform'": "a claim's word in the place of numbers",
    "mechanisms/tables/noise.py: value == 'uniform'": "a claim's word in the place of numbers",
    "mechanisms/tables/phase.py: getattr(table, 'weights', 'uniform') != 'uniform'": "the same",
    "mechanisms/text_table.py: 'COLUMNS' in os.environ": "an environment variable",
}
"""What is text because somebody else writes it, and why."""


def compared_with_text(source: ast.Module) -> set[str]:
    """Comparisons, `in` among them, of which a side is text, or a list of texts; and cases of a `match`."""
    found = set()
    for node in ast.walk(source):
        if isinstance(node, ast.Compare) and any(map(is_text, (node.left, *node.comparators))):
            found.add(ast.unparse(node))
        elif isinstance(node, ast.MatchValue) and is_text(node.value):
            found.add(f"case {ast.unparse(node)}")
    return found


def is_text(node: ast.expr) -> bool:
    """A constant text, or a list of nothing else."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return bool(node.elts) and all(map(is_text, node.elts))
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def test_accountants_and_mechanisms_compare_no_words() -> None:
    files: list[Path] = [file for room in ("accounting", "mechanisms") for file in sorted((ROOT / room).rglob("*.py"))]
    found = {f"{file.relative_to(ROOT)}: {each}" for file in files for each in compared_with_text(parsed(file))}
    assert found == set(READ_FROM_OUTSIDE), "make the words members of a Word; what is read from outside says why here"


@pytest.mark.parametrize(
    "planted",
    [
        'found.method == "pld"',
        '"cohorts" in found.method',
        'asked.accountant in ("best", "pld")',
        'relation != "zero-out"',
        'match order:\n    case "add":\n        pass',
        'match order:\n    case "add" | "remove":\n        pass',
    ],
)
def test_a_planted_comparison_is_found(planted: str) -> None:
    assert compared_with_text(ast.parse(planted))
    assert not compared_with_text(ast.parse("found.order is Order.ADD and found.method != METHOD"))
