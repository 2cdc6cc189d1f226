"""The checker imports nothing of the search, and believes nothing that it says."""

from __future__ import annotations

import ast
import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import looping
import pytest
import several_loops
from suggesting import suggested

from dpcert.proofs_checks import proving
from dpcert.proofs_checks.proving.checker.forms import Form
from dpcert.proofs_checks.proving.checker.inductions.check import check_induction
from dpcert.proofs_checks.proving.checker.pairs import Setting
from dpcert.proofs_checks.proving.checker.refusals import Refused
from dpcert.proofs_checks.proving.inductions import loops

FOLDER = Path(proving.__file__).parent


def imported(file, folder):
    """(module, name) of everything that the file imports from the room, as in ("checker.forms", "Form")."""
    package = (*folder.parts[len(folder.parts) :], *file.relative_to(folder).parent.parts)
    found = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            climbed = node.level - 1
            if climbed > len(package):
                found.add((f"outside:{node.module}", ""))
                continue
            base = [*package[: len(package) - climbed], *(node.module or "").split(".")]
            found |= {(".".join(part for part in base if part), alias.name) for alias in node.names}
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = [getattr(node, "module", None) or alias.name for alias in node.names]
            found |= {("outside:dpcert", "") for name in names if name.split(".")[0] == "dpcert"}
        elif isinstance(node, ast.Name | ast.Attribute) and "import_module" in ast.unparse(node):
            found.add(("outside:import_module", ""))
    return found


def shared(folder):
    """Which files of the checker break the rule, and by what."""
    broken = []
    for file in sorted((folder / "checker").rglob("*.py")):
        for module, name in imported(file, folder):
            of_checker = module.split(".")[0] == "checker" or (not module and name == "checker")
            if not of_checker and not module.startswith("outside:mechanisms"):
                broken.append(f"{'/'.join(file.relative_to(folder).parts)}: {module} {name}".strip())
    return broken


def test_the_checker_imports_nothing_of_the_search():
    assert len(list((FOLDER / "checker").rglob("*.py"))) > 40
    assert shared(FOLDER) == []


@pytest.mark.parametrize(
    ("file", "line", "said"),
    [
        ("checker/check.py", "from ..solver import Space", "checker/check.py: solver Space"),
        ("checker/language/calls.py", "from ...search import Piece", "checker/language/calls.py: search Piece"),
        ("checker/check.py", "from ...auditing import audit", "checker/check.py: outside:auditing"),
        ("checker/costs.py", "import importlib\nimportlib.import_module(0)", "checker/costs.py: outside:import_module"),
    ],
)
def test_an_import_of_the_search_is_noticed(file, line, said, tmp_path):
    copy = tmp_path / "proving"
    shutil.copytree(FOLDER, copy, ignore=shutil.ignore_patterns("__pycache__"))
    assert shared(copy) == []
    with (copy / file).open("a", encoding="utf-8") as text:
        text.write(f"\n{line}\n")
    assert [each.split(" audit")[0] for each in shared(copy)] == [said]


# The search believes what the steps of a function's loops are said to do; the checker finds out again. Whatever is said
# falsely, so that the search suggests a false proof, the checker rejects.


def of_each(**changes):
    """Of every way something is changed."""
    return lambda ways: [
        replace(way, **{name: change(getattr(way, name)) for name, change in changes.items()}) for way in ways
    ]


def doubled(draws):
    return tuple((kind, str(2 * Fraction(scale))) for kind, scale in draws)


def nothing(_):
    return ()


def without_entries(forms):
    return tuple(
        Form({n: v for n, v in form.slopes.items() if n not in ("x", "y", "z", "d")}, form.at_zero) for form in forms
    )


VECTOR = looping.sparse_vector, "answers"
LIES = {
    "noise of twice the scale": (of_each(draws=doubled), *VECTOR, "costs"),
    "no tests": (of_each(tests=nothing), *VECTOR, "the other run may do"),
    "no entry in the next state": (
        of_each(after=without_entries),
        looping.noisy_sum,
        "replace-one",
        "differ otherwise",
    ),
    "no entry in the output": (
        of_each(released=without_entries),
        several_loops.each,
        "replace-one",
        "a released number",
    ),
    "one way of several": (lambda ways: ways[:1], *VECTOR, "no move for the label"),
    "what a lying author says": (lambda ways: ways, several_loops.false_fact, "answers", "need not be one"),
}


def lie(change, monkeypatch):
    """The search is told otherwise."""
    real = loops.Loops._ways
    monkeypatch.setattr(loops.Loops, "_ways", lambda self, *given: change(real(self, *given)))


@pytest.mark.parametrize("name", LIES)
def test_what_is_said_falsely_is_not_believed_by_the_checker(name, monkeypatch):
    change, function, relation, reason = LIES[name]
    with monkeypatch.context() as patched:
        lie(change, patched)
        document, epsilon = suggested(function, relation)
    with pytest.raises(Refused, match=reason):
        check_induction(document, function, Setting(relation), epsilon)


def test_less_is_suggested_where_more_noise_is_said(monkeypatch):
    lie(of_each(draws=doubled), monkeypatch)
    assert suggested(looping.sparse_vector, "answers")[1] == Fraction(1, 2)
