"""Which packages the wheel has: found in the four rooms and under src/dpcert, so that none can be forgotten.

Everything else is in pyproject.toml. The links src/dpcert/<room> are for static tools only and are left out here, so
that a clone without symbolic links builds the same wheel.
"""

from __future__ import annotations

from setuptools import find_packages, setup

ROOMS = ("mechanisms", "accounting", "trainers", "proofs_checks")


def packages() -> list[str]:
    """Names of all packages, dpcert first."""
    linked = [f"dpcert.{room}{below}" for room in ROOMS for below in ("", ".*")]
    found = find_packages("src", exclude=linked)
    for room in ROOMS:
        found += [f"dpcert.{room}", *(f"dpcert.{room}.{package}" for package in find_packages(room))]
    return found


setup(packages=packages())
