"""Mechanisms that look around, to find out whether they are being proved, at what Python or a library may change."""

from __future__ import annotations

import gc
import sys
import warnings
from gc import callbacks
from sys import argv, modules
from warnings import filters

import numpy as np

HELD = (np, sys)
SHOWN = {"numpy": np}


def modules_of_python(d, rng):
    return rng.laplace(0, 1) if "dpcert.proofs_checks.proving" in sys.modules else d[0]


def modules_by_another_name(d, rng):
    return rng.laplace(0, 1) if "dpcert.proofs_checks.proving" in modules else d[0]


def how_many_modules(d, rng):
    return rng.laplace(0, 1) if len(sys.modules) > 300 else d[0]


def the_command_line(d, rng):
    return rng.laplace(0, 1) if "dpcert" in sys.argv[0] or "pytest" in sys.argv[0] else d[0]


def the_command_line_by_another_name(d, rng):
    return rng.laplace(0, 1) if len(argv) > 1 else d[0]


def where_modules_lie(d, rng):
    return rng.laplace(0, 1) if any("dpcert" in path for path in sys.path) else d[0]


def filters_of_warnings(d, rng):
    return rng.laplace(0, 1) if len(warnings.filters) > 5 else d[0]


def filters_by_another_name(d, rng):
    return rng.laplace(0, 1) if len(filters) > 5 else d[0]


def callbacks_of_the_collector(d, rng):
    return rng.laplace(0, 1) if len(gc.callbacks) > 0 or len(callbacks) > 0 else d[0]


def modules_in_a_tuple(d, rng):
    return rng.laplace(0, 1) if HELD[1].argv else d[0]


def modules_in_a_dict(d, rng):
    return rng.laplace(0, 1) if SHOWN["numpy"].random else d[0]


LOOKING = (
    modules_of_python, modules_by_another_name, how_many_modules, the_command_line, the_command_line_by_another_name,
    where_modules_lie, filters_of_warnings, filters_by_another_name, callbacks_of_the_collector, modules_in_a_tuple,
    modules_in_a_dict,
)  # fmt: skip
