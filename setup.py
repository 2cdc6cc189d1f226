"""Which packages the wheel has: found in the four rooms and under src/dpcert, so that none can be forgotten.

Everything else is in pyproject.toml. The links src/dpcert/<room> are for static tools only and are left out here, so
that a clone without symbolic links builds the same wheel.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from setuptools import find_packages, setup
from setuptools.command.editable_wheel import editable_wheel

ROOMS = ("mechanisms", "accounting", "trainers", "proofs_checks")


def packages() -> list[str]:
    """Names of all packages, dpcert first."""
    linked = [f"dpcert.{room}{below}" for room in ROOMS for below in ("", ".*")]
    found = find_packages("src", exclude=linked)
    for room in ROOMS:
        found += [f"dpcert.{room}", *(f"dpcert.{room}.{package}" for package in find_packages(room))]
    return found


class WithSources:
    """How an editable install finds its modules, and src/ on the path: found there, the package comes before a folder
    of its name, such as a clone in the folder in which Python is started. setuptools' own finder is asked later."""

    def __init__(self, strategy: Any) -> None:
        self.strategy = strategy

    def __enter__(self) -> Any:
        self.strategy.__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        self.strategy.__exit__(*raised)

    def __call__(self, wheel: Any, *about: Any) -> None:
        self.strategy(wheel, *about)
        wheel.writestr("__editable__.dpcert.sources.pth", f"{Path(__file__).parent.resolve() / 'src'}\n".encode())


class Editable(editable_wheel):
    """pip install -e."""

    def _select_strategy(self, *about: Any) -> Any:
        return WithSources(super()._select_strategy(*about))


setup(packages=packages(), cmdclass={"editable_wheel": Editable})
