"""The solver for a model, a loss and a device: the fastest that can do the work."""

from __future__ import annotations

from ...mechanisms import InputError
from ..engine.parameters import FlatModule
from .dual import DualSolver
from .loop import LoopSolver
from .vmap import VmapSolver
from .work import LocalSolver, Work


def choose_solver(name: str, model: FlatModule, work: Work) -> LocalSolver:
    """The named solver, or for "auto" the fastest: dual for linear models, else vmap on a GPU, else the loop.

    On a CPU no vectorisation beats the loop for convolutional networks (benchmarks/trainers.py).
    Raises InputError for a named solver that cannot do the work.
    """
    candidates: dict[str, LocalSolver] = {
        "dual": DualSolver(model),
        "vmap": VmapSolver(model),
        "loop": LoopSolver(model),
    }
    if name != "auto":
        refusal = candidates[name].refuses(work)
        if refusal:
            raise InputError("solver", name, f"another solver: {refusal}")
        return candidates[name]
    if candidates["dual"].refuses(work) is None:
        return candidates["dual"]
    if model.vector.device.type == "cuda" and candidates["vmap"].refuses(work) is None:
        return candidates["vmap"]
    return candidates["loop"]
