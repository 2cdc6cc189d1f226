"""What differs between versions of Python: syntax that only later ones have, and how code is found again in its source.

Run with each Python that is at hand; nothing here needs more than one.
"""

from __future__ import annotations

import ast
import importlib.util
import itertools
import sys

import pytest
import surroundings

from dpcert.proofs_checks.proving import prove
from dpcert.proofs_checks.proving.checker.language import globals as language_globals
from dpcert.proofs_checks.proving.checker.language import grammar, source
from dpcert.proofs_checks.proving.checker.refusals import Refused

COUNT = itertools.count()


def module(text, folder):
    """The module that this text is."""
    name = f"of_a_python{next(COUNT)}"
    path = folder / f"{name}.py"
    path.write_text(text, "utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


LAMBDAS = "both = (lambda d, rng: d.sum() + rng.laplace(0, 1), lambda d, rng: d.sum() + rng.laplace(0, 2))\n"
WRITTEN = {
    "two lambdas in a line": (LAMBDAS + "f = both[1]\n", 0.5),
    "the first of them": (LAMBDAS + "f = both[0]\n", 1.0),
    "a decorated function": (
        "def same(g):\n    return g\n\n@same\n@same\n"
        "def f(d, rng):\n    'Of it.'\n    return d.sum() + rng.laplace(0, 2)\n",
        0.5,
    ),
    "a docstring of several lines": (
        "def f(d, rng):\n    '''One.\n\n        Two.\n    '''\n    return d.sum() + rng.laplace(0, 2)\n",
        0.5,
    ),
    "comprehensions": (
        "def f(d, rng):\n    x = [y for y in [x for x in d]]\n    return sum(y for y in x) + rng.laplace(0, 2)\n",
        0.5,
    ),
    "annotations that mean nothing": (
        "def f(d: nothing, rng: 'x') -> nowhere:\n    y: never[0] = d.sum()\n    return y + rng.laplace(0, 2)\n",
        0.5,
    ),
    "closures": (
        "def made(scale):\n    def f(d, rng):\n        return d.sum() + rng.laplace(0, scale)\n    return f\n"
        "f = made(2)\n",
        0.5,
    ),
    "quotes in an f-string": (
        "def f(d, rng):\n    return f'{d.sum() + rng.laplace(0, 2):.1f} of {\"all\"}'\n",
        0.5,
    ),
}
LATER = {
    (3, 12): {
        "type parameters": ("def f[T](d: T, rng: T) -> T:\n    return d.sum() + rng.laplace(0, 2)\n", 0.5),
        "the same quotes in an f-string": (
            "def f(d, rng):\n    return f'{d.sum() + rng.laplace(0, 2):.1f} of {'all'}'\n", 0.5),
        "a type alias": ("def f(d, rng):\n    type X = int\n    return d.sum() + rng.laplace(0, 2)\n", "`type`"),
    },
    (3, 14): {"a template string": ("def f(d, rng):\n    return t'{d.sum()}'\n", "a template string")},
}  # fmt: skip
REFUSED = {
    "groups of exceptions": (
        "def f(d, rng):\n    try:\n        return d.sum()\n    except* ValueError:\n        pass\n", "`try`"),
    "match": ("def f(d, rng):\n    match len(d):\n        case 1:\n            return 1\n    return 0\n", "`match`"),
    "annotations that are code": ("def f(d, rng, x=[]):\n    x[0]: int = d.sum()\n    return x\n", "a container that"),
}  # fmt: skip
CASES = WRITTEN | REFUSED
for version, cases in LATER.items():
    CASES |= cases if sys.version_info[:2] >= version else {}


@pytest.mark.parametrize("name", CASES)
def test_it_is_read_or_refused_by_name(name, tmp_path):
    text, wanted = CASES[name]
    if name == "annotations that mean nothing" and sys.version_info < (3, 14):
        text = "from __future__ import annotations\n" + text
    proof = prove(module(text, tmp_path).f, up_to=2)
    if isinstance(wanted, str):
        assert wanted in proof.reason
        assert proof.verdict == "unsupported"
    else:
        assert (proof.proved, proof.epsilon) == (True, wanted), str(proof)


def test_another_source_than_the_one_that_runs_is_refused(tmp_path):
    made = module("def f(d, rng):\n    return d.sum() + rng.laplace(0, 2)\n", tmp_path)
    path = tmp_path / f"{made.__name__}.py"
    path.write_text("def f(d, rng):\n    return d.sum() + rng.laplace(0, 3)\n", "utf-8")
    with pytest.raises(Refused, match="not what it runs"):
        source.definition(made.f)


def test_syntax_that_no_table_names_is_refused():
    """By construction: what is in the language is listed, so that what later versions add is not."""

    class Later(ast.expr):
        _fields = ()

    made = ast.parse("def f(d, rng):\n    return d").body[0]
    made.body[0].value = Later()
    with pytest.raises(Refused, match="`later`"):
        grammar.check(made, "here")
    assert all(issubclass(each, ast.AST) for each in grammar.SYNTAX)


def test_no_name_of_syntax_is_one_that_later_versions_lack():
    """ast.Num and the like are gone in 3.14."""
    gone = {"Num", "Str", "Bytes", "NameConstant", "Ellipsis", "Index", "ExtSlice", "Suite", "Param", "AugLoad"}
    assert gone.isdisjoint(each.__name__ for each in grammar.SYNTAX)
    used = set()
    for path in sorted(source.Path(grammar.__file__).parents[2].rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        used |= {
            node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "ast"
        }
    assert gone.isdisjoint(used)


@pytest.mark.parametrize("function", surroundings.LOOKING)
def test_what_python_or_a_library_may_change_tells_nobody_who_runs(function):
    """Which modules Python has by itself differs between versions; with 3.13 all of sys.modules could be held once."""
    proof = prove(function, epsilon=1, up_to=1)
    assert (proof.verdict, proof.certificate) == ("unsupported", None)


def test_without_that_rule_a_look_at_the_command_line_would_be_proved(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["pytest"])
    monkeypatch.setattr(language_globals, "_of_a_library", lambda value: False)
    assert prove(surroundings.the_command_line, epsilon=1, up_to=1).proved
