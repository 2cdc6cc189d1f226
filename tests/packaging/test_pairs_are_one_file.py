"""What is specific to a kind of pair is in that pair's file: accountants ask what every pair tells of itself."""

from __future__ import annotations

import ast
from inspect import isfunction

from dpcert.accounting.pairs import Pair

from .test_imports import ROOT, parsed

MOST = 10
"""Public methods of Pair, and places outside accounting/pairs that ask of what kind a pair is."""


def asked_for_a_kind(source: ast.Module) -> list[str]:
    """isinstance(..., SomePair) and isinstance(..., SomePair | OtherPair)."""
    return [
        ast.unparse(node)
        for node in ast.walk(source)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "isinstance"
        and any(word.endswith("Pair") for word in ast.unparse(node.args[1]).replace(".", " ").split())
    ]


def test_accountants_name_few_kinds_of_pair() -> None:
    outside = [
        f"{file.relative_to(ROOT)}: {each}"
        for file in sorted((ROOT / "accounting").rglob("*.py"))
        if "pairs" not in file.parts
        for each in asked_for_a_kind(parsed(file))
    ]
    assert len(outside) <= MOST, outside


def test_a_pair_tells_at_most_ten_things_each_with_a_default() -> None:
    told = {name for name, value in vars(Pair).items() if isfunction(value) and not name.startswith("_")}
    assert len(told) <= MOST
    plain = Pair()
    asked = [getattr(plain, name)() for name in told - {"moved", "profile"}]
    assert len(asked) == len(told) - 2
    assert plain.moved(2.0) is plain


def test_a_planted_kind_is_found() -> None:
    assert asked_for_a_kind(ast.parse("isinstance(pair, pairs.CutPair | LossesPair)"))
    assert not asked_for_a_kind(ast.parse("isinstance(law, AtomLaw)"))
