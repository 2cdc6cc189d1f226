"""The checker of certificates with pieces of its source replaced: faults to plant."""

from __future__ import annotations

import importlib.util
import itertools
import shutil
import sys
from pathlib import Path
from types import ModuleType

from dpcert.proofs_checks.certificates import checker

FOLDER = Path(checker.__file__).parent
_numbers = itertools.count()


def weakened(folder: Path, replacements: dict[str, str]) -> ModuleType:
    """The package, with each piece, which is there once in all its files, replaced; under a name of its own."""
    name = f"weakened_checker_{next(_numbers)}"
    copy = folder / name
    shutil.copytree(FOLDER, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for right, wrong in replacements.items():
        holders = [file for file in copy.glob("*.py") if right in file.read_text("utf-8")]
        assert len(holders) == 1, f"{right!r} is in {len(holders)} files"
        source = holders[0].read_text("utf-8")
        assert source.count(right) == 1, f"{right!r} is there {source.count(right)} times"
        holders[0].write_text(source.replace(right, wrong), "utf-8")
    spec = importlib.util.spec_from_file_location(name, copy / "__init__.py", submodule_search_locations=[str(copy)])
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
