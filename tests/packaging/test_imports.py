"""The imports between product files, read from the code: no circle, however deep, no private name from elsewhere."""

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("mechanisms", "accounting", "trainers", "proofs_checks")


class Import(NamedTuple):
    """name: what is taken from the module; None: the module itself."""

    file: Path
    line: int
    module: str
    name: str | None


def files(root: Path = ROOT) -> dict[str, Path]:
    """Every product file by the name under which it is imported."""
    found = {}
    for place, name in [(root / "src" / "dpcert", "dpcert"), *((root / room, f"dpcert.{room}") for room in ROOMS)]:
        for file in sorted(place.rglob("*.py")):
            inside = file.relative_to(place)
            if not (name == "dpcert" and inside.parts[0] in ROOMS):  # links to the rooms
                parts = [name, *inside.with_suffix("").parts]
                found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


@cache
def parsed(file: Path) -> ast.Module:
    """Read once, for all that asks."""
    return ast.parse(file.read_text(encoding="utf-8"))


def imports(name: str, known: dict[str, Path]) -> Iterator[Import]:
    """What a file imports of ours: when it is loaded, inside functions, and for type checkers."""
    file = known[name]
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.Import):
            yield from (Import(file, node.lineno, each.name, None) for each in node.names if each.name in known)
        elif isinstance(node, ast.ImportFrom):
            base = name.split(".")[: None if file.name == "__init__.py" else -1]
            base = base[: len(base) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            for each in node.names:
                if f"{module}.{each.name}" in known:
                    yield Import(file, node.lineno, f"{module}.{each.name}", None)
                elif module in known:
                    yield Import(file, node.lineno, module, each.name)


RECURSION = "dpcert.proofs_checks.proving.checker.language"
"""An interpreter is one recursion, told in several files: a call evaluates a body, whose expressions make calls."""

ITS_PLACES = {"dpcert.proofs_checks.proving.checker.order"}
"""Places among unknown values are told by comparisons, which are the language's."""


PAIRS, PRICED_BY = "dpcert.accounting.pairs.", ("losses", "renyi", "allocation")
"""A pair says how its law and its divergences are computed, by rooms that rest on pairs: samples, blocks and searches
are pairs made of pairs, whose parts' laws the rooms ask for in turn. Only these three, and only from pairs."""


def asks_its_price(importing: str, imported: str) -> bool:
    rooms = tuple(f"dpcert.accounting.{room}." for room in PRICED_BY)
    return importing.startswith(PAIRS) and imported.startswith(rooms)


def circle(known: dict[str, Path]) -> list[str]:
    """The first circle, if there is one. The face of the package, which only hands on names, is nobody's tie."""

    def place(name: str) -> str:
        return RECURSION if name.startswith(f"{RECURSION}.") or name in ITS_PLACES else name

    graph: dict[str, set[str]] = {}
    for name in known:
        if name != "dpcert":
            found = (each.module for each in imports(name, known) if not asks_its_price(name, each.module))
            graph.setdefault(place(name), set()).update(map(place, found))
    graph = {name: ties - {name} for name, ties in graph.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as problem:
        return list(problem.args[1])
    return []


def private(known: dict[str, Path]) -> list[str]:
    """Names with a leading underscore, and modules so called, that a file takes from another one."""
    taken = []
    for name, file in known.items():
        loaded = {}
        for each in imports(name, known):
            last = each.name or each.module.rpartition(".")[2]
            loaded[last] = each.module
            if last.startswith("_") and not last.startswith("__"):
                taken.append(f"{file.name}:{each.line} {each.module} {last}")
        for node in ast.walk(parsed(file)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in loaded:
                module = f"{loaded[node.value.id]}"
                if module in known and node.attr.startswith("_") and not node.attr.startswith("__"):
                    taken.append(f"{file.name}:{node.lineno} {module}.{node.attr}")
    return taken


def test_no_import_leads_back_to_its_file():
    assert circle(files()) == []


def test_no_private_name_is_taken_from_another_file():
    assert private(files()) == []


def planted(root: Path, **texts: str) -> dict[str, Path]:
    """A house of these files in the room accounting."""
    (root / "accounting").mkdir()
    for name, text in texts.items():
        (root / "accounting" / f"{name}.py").write_text(text)
    return files(root)


@pytest.mark.parametrize(
    "back",
    [
        "from .a import f\n",
        "def g():\n    from . import a\n    return a\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .a import f\n",
        "import dpcert.accounting.a\n",
    ],
)
def test_a_planted_circle_is_found(tmp_path, back):
    house = planted(tmp_path, a="from .b import g\n", b="from .c import h\n", c=back)
    found = [name.rpartition(".")[2] for name in circle(house)]
    assert sorted(found[1:]) == ["a", "b", "c"]


@pytest.mark.parametrize("text", ["from .b import _g\n", "from . import b\nb._g()\n", "from . import _b\n"])
def test_a_planted_private_name_is_found(tmp_path, text):
    (found,) = private(planted(tmp_path, a=text, b="def _g(): ...\n", _b=""))
    assert found.startswith("a.py:")
    assert found.endswith(("_g", "_b"))


def test_the_array_types_have_one_name_each():
    spelt = {file.name for file in files().values() if "NDArray[np.float64]" in file.read_text(encoding="utf-8")}
    assert spelt == {"arrays.py"}


def above(known: dict[str, Path]) -> list[str]:
    """Imports that lead upwards: of the command line by anything else, of what shows results by the four rooms."""
    found = []
    for name in known:
        room = ".".join(name.split(".")[:2])
        for each in imports(name, known):
            taken = ".".join(each.module.split(".")[:2])
            upwards = taken == "dpcert.cli" and room not in ("dpcert.cli", "dpcert.__main__")
            upwards |= taken == "dpcert.presentation" and room.removeprefix("dpcert.") in ROOMS
            found += [f"{each.file.name}:{each.line} {each.module}"] if upwards else []
    return found


def test_nothing_imports_the_command_line_and_no_room_what_shows_its_results():
    assert above(files()) == []


@pytest.mark.parametrize("taken", ["cli.verify", "presentation.report"])
def test_a_planted_import_upwards_is_found(tmp_path, taken):
    room, module = taken.split(".")
    for file in (f"src/dpcert/{room}/{module}.py", "accounting/bracket.py"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("")
    (tmp_path / "accounting/bracket.py").write_text(f"def show():\n    from ..{room} import {module}\n")
    assert above(files(tmp_path)) == [f"bracket.py:2 dpcert.{taken}"]
