"""What a symbolic run says at a point, beside what the function itself puts out."""

from __future__ import annotations

import importlib.util
import itertools

from dpcert.proofs_checks.proving.checker.runs import Branch
from dpcert.proofs_checks.proving.checker.tracer import complete

COUNTER = itertools.count()


def loaded(functions, folder):
    """Functions f0, f1, ... of these sources, in a file: what has no source is refused."""
    file = folder / f"computing_{next(COUNTER)}.py"
    file.write_text("\n".join(["import math", "import numpy as np", "", *functions]))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [getattr(module, f"f{i}") for i in range(len(functions))]


def at(node, point):
    """The way's end at the point, and the point with what is computed on the way."""
    point = complete(point, node.known)
    while isinstance(node, Branch):
        (way,) = [k for k, way in enumerate(node.ways) if all(sign.holds(point) for sign in way)]
        node = node.ends[way]
        point = complete(point, node.known)
    return node, point


def flat(key, reals=()):
    """The numbers of an output in order; of which kind they are the checker's real runs compare."""
    reals = iter(reals)

    def numbers(part):
        if part == "real":
            return [next(reals)]
        if len(part) == 2 and part[0] in ("bool", "int", "float"):
            return [{"True": 1.0, "False": 0.0}.get(part[1]) if part[0] == "bool" else float(part[1])]
        return [number for inner in part[1:] if inner == "real" or isinstance(inner, list) for number in numbers(inner)]

    return numbers(key)
