"""Words of a closed list are members of a type (mechanisms/word.py): the accountants compare nothing with text.

A misspelt word in a comparison is no error, it is another answer; a misspelt member is one, before anything runs.
"""

from __future__ import annotations

import ast
import re

import pytest

from .test_imports import ROOT, files, parsed

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
    "mechanisms/tables/correlated.py: 'max_participations' in self.model_fields_set": "a key of a claim",
    "mechanisms/tables/kinds.py: 'kind' not in value": "a key of a claim",
    "mechanisms/tables/noise.py: self.weights == 'uniform'": "a claim's word in the place of numbers",
    "mechanisms/tables/noise.py: value == 'uniform'": "a claim's word in the place of numbers",
    "mechanisms/tables/phase.py: each == 'uniform'": "the same",
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
    rooms = [file for room in ("accounting", "mechanisms") for file in (ROOT / room).rglob("*.py")]
    found = {f"{file.relative_to(ROOT)}: {each}" for file in rooms for each in compared_with_text(parsed(file))}
    assert found == set(READ_FROM_OUTSIDE), "make the words members of a Word; what is read from outside says why here"


def told_apart_by_identity(text: str, words: set[str]) -> list[str]:
    """`is` and `is not` with a member of one of these types: a spelling would be taken for another word."""
    lines = (line for line in text.splitlines() if ">>>" not in line)
    return [
        found[0] for line in lines for found in re.finditer(r"\bis (?:not )?(\w+)\.[A-Z]\w*", line) if found[1] in words
    ]


def test_members_are_compared_by_their_spelling() -> None:
    texts = {name: file.read_text(encoding="utf-8") for name, file in files().items()}
    words = {word for text in texts.values() for word in re.findall(r"^class (\w+)\(Word\):", text, re.MULTILINE)}
    assert {"Relation", "Order", "Scheme", "ObserverKind"} <= words
    assert not [f"{name}: {each}" for name, text in texts.items() for each in told_apart_by_identity(text, words)]
    assert told_apart_by_identity("if observer.kind is not ObserverKind.SERVER:", words)
    assert not told_apart_by_identity("end is End.UPPER and order == Order.ADD", words)


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
    assert not compared_with_text(ast.parse("found.order == Order.ADD and found.method != METHOD"))
