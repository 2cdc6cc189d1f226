"""The search and the checker import nothing of each other, and what one says the other does not believe."""

from __future__ import annotations

import ast
import shutil
from fractions import Fraction
from pathlib import Path

import looping
import pytest
import several_loops
from cases import few
from suggesting import ENDS, suggested

from dpcert.proofs_checks import proving
from dpcert.proofs_checks.proving.checker.following import Refused
from dpcert.proofs_checks.proving.checker.induction import check_induction
from dpcert.proofs_checks.proving.checker.told import told

FOLDER = Path(proving.__file__).parent
BETWEEN = {"__init__", "prove", "attempt", "enumeration"}
"""They hand to the one what the other made."""
ENTRIES = {
    "check_proof",
    "Checked",
    "OutOfTime",
    "Watch",
    "shown_by",
    "check_enumeration",
    "told",
    "Refused",
    "under_way",
    "annotating",
}
"""What they may know of the checker: it is asked, it answers, it refuses."""


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
    """Which files of the room break the rule, and by what."""
    broken = []
    for file in sorted(folder.rglob("*.py")):
        ours = file.relative_to(folder).parts
        for module, name in imported(file, folder):
            of_checker = module.split(".")[0] == "checker" or (not module and name == "checker")
            if ours[0] == "checker":
                fine = of_checker or module.startswith("outside:mechanisms")
            elif file.stem in BETWEEN:
                fine = not of_checker or name in ENTRIES
            else:
                fine = not of_checker and module not in BETWEEN and not module.startswith("outside:dpcert")
                fine = fine and module != "outside:import_module"
            if not fine:
                broken.append(f"{'/'.join(ours)}: {module} {name}".strip())
    return broken


def test_the_checker_and_the_search_share_no_code():
    assert len(list((FOLDER / "checker").glob("*.py"))) > 20
    assert len(list(FOLDER.glob("*.py"))) > 25
    assert shared(FOLDER) == []


@pytest.mark.parametrize(
    ("file", "line", "said"),
    few(
        [
            ("potentials.py", "from .checker.forms import Form", "potentials.py: checker.forms Form"),
            ("potentials.py", "def late():\n    from .checker import forms", "potentials.py: checker forms"),
            ("loops.py", "from . import checker", "loops.py:  checker"),
            ("loops.py", "import dpcert.proofs_checks.proving.checker.forms", "loops.py: outside:dpcert"),
            ("loops.py", "import importlib\nimportlib.import_module('x')", "loops.py: outside:import_module"),
            ("loops.py", "from .attempt import check_proof", "loops.py: attempt check_proof"),
            ("attempt.py", "from .checker.cut import cut", "attempt.py: checker.cut cut"),
            ("checker/cut.py", "from ..linear import Linear", "checker/cut.py: linear Linear"),
            ("checker/cut.py", "from ...auditing import audit", "checker/cut.py: outside:auditing"),
        ],
        6,
    ),
)
def test_an_import_of_the_other_side_is_noticed(file, line, said, tmp_path):
    copy = tmp_path / "proving"
    shutil.copytree(FOLDER, copy, ignore=shutil.ignore_patterns("__pycache__"))
    assert shared(copy) == []
    with (copy / file).open("a", encoding="utf-8") as text:
        text.write(f"\n{line}\n")
    assert shared(copy) == [said]


# The search believes what it is told of a function's loops; the checker finds out for itself. Whatever is told falsely,
# so that the search suggests a false proof, the checker rejects.


def lying(change):
    """`told`, with every answer's ways changed."""

    def tell(function, relation):
        ask = told(function, relation)

        def answer(question):
            answered = ask(question)
            return answered | {"ways": change(answered["ways"])}

        return answer

    return tell


def of_each(**changes):
    return lying(lambda ways: [way | {name: change(way[name]) for name, change in changes.items()} for way in ways])


def doubled(draws):
    return [[kind, str(2 * Fraction(scale))] for kind, scale in draws]


def nothing(_):
    return []


def without_entries(forms):
    return [{name: value for name, value in form.items() if name not in ("x", "y", "z", "d")} for form in forms]


VECTOR = looping.sparse_vector, "answers"
SUM, EACH = (looping.noisy_sum, "replace-one"), (several_loops.each, "replace-one")
LIES = {
    "noise of twice the scale": (of_each(draws=doubled), *VECTOR, "costs"),
    "no tests": (of_each(tests=nothing, cell=nothing), *VECTOR, "the other run may do"),
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
    "one way of several": (lying(lambda ways: ways[:1]), *VECTOR, "no move for the label"),
    "what a lying author says": (told, several_loops.false_fact, "answers", "need not be one"),
}


@pytest.mark.parametrize("lie", LIES)
def test_what_is_told_falsely_is_not_believed_by_the_checker(lie):
    tell, function, relation, reason = LIES[lie]
    document, epsilon = suggested(function, relation, tell=tell)
    with pytest.raises(Refused, match=reason):
        check_induction(document, function, relation, ENDS, epsilon)


def test_less_is_suggested_where_more_noise_is_told():
    assert suggested(looping.sparse_vector, "answers", tell=of_each(draws=doubled))[1] == Fraction(1, 2)
