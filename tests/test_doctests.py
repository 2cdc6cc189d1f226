"""Every example in a docstring of the product is run, and every public function has one."""

from __future__ import annotations

import doctest
import importlib
import inspect
from pathlib import Path

import pytest

import dpcert

ROOT = Path(__file__).parents[1]
ROOMS = ("mechanisms", "accounting", "trainers", "proofs_checks")
PUBLIC = ("mechanisms", "accounting", "accounting.billboard", "accounting.ledger", "proofs_checks", "testing")


def modules() -> list[str]:
    """The modules with an example in their source: only these are imported."""
    files = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    files += [path for path in (ROOT / "src/dpcert").rglob("*.py") if path.relative_to(ROOT).parts[2] not in ROOMS]
    inside = [path for path in files if ">>> " in path.read_text(encoding="utf-8")]
    names = [path.relative_to(ROOT).with_suffix("").parts for path in inside]
    dotted = [".".join(parts[2:] if parts[0] == "src" else parts) for parts in names]
    return sorted(f"dpcert.{name}".removesuffix(".__init__") for name in dotted)


@pytest.mark.parametrize("name", modules())
def test_the_examples_run(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("room", PUBLIC)
def test_every_public_function_and_class_has_an_example(room: str) -> None:
    loaded = importlib.import_module(f"dpcert.{room}")
    names = {name: getattr(loaded, name) for name in loaded.__all__}
    assert [name for name, made in names.items() if not has_example(made)] == []


def has_example(made: object) -> bool:
    """In its own docstring, or in that of a method; what is neither function nor class needs none."""
    if not (inspect.isfunction(made) or inspect.isclass(made)):
        return True
    parts = [made, *vars(made).values()] if inspect.isclass(made) else [made]
    return any(">>> " in (getattr(part, "__doc__", None) or "") for part in parts)


def test_a_wrong_example_is_seen() -> None:
    test = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "planted", None, None)
    assert doctest.DocTestRunner(verbose=False).run(test, out=lambda text: None).failed == 1


def test_the_root_has_the_rooms_names() -> None:
    for room in ("mechanisms", "accounting", "proofs_checks"):
        loaded = importlib.import_module(f"dpcert.{room}")
        for name in loaded.__all__:
            assert getattr(dpcert, name) is getattr(loaded, name), name
            assert name in dir(dpcert)
    with pytest.raises(AttributeError, match="no attribute 'epsilom'"):
        dpcert.epsilom  # noqa: B018
