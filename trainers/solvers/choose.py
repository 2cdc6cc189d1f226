"""The solver for a model, a loss and a device: the fastest that can do the work."""

from __future__ import annotations

from collections.abc import Callable

from ...mechanisms import InputError
from ..engine.parameters import FlatModule
from ..models import Cnn
from .dual import DualSolver
from .loop import LoopSolver
from .together import CompiledSolver, StackedSolver, VmapSolver
from .work import LocalSolver, Work

PREFERRED: dict[tuple[str, bool], tuple[str, ...]] = {
    ("cpu", False): ("dual", "loop"),
    ("cpu", True): ("dual", "loop"),
    ("cuda", False): ("stacked", "vmap", "loop"),
    ("cuda", True): ("dual", "stacked", "vmap", "loop"),
}
"""What "auto" tries on (a device, with sparse features or not), the fastest first. The figures behind it, from
docs/trainers/speed.md (benchmarks/trainers.py and benchmarks/trainers_cuda.py):

                                   dual         stacked        vmap           loop
    one CPU thread, cohort 100, times the plain loop there
        logistic 784 x 62          6.0 to 7.0   1.4 to 3.5     1.3 to 2.8     1.4 to 1.8
        CNN                        -            .23 to .35     .56 to .73     1.03 to 1.1
        10,000 x 500, sparse       54 to 56
    H200, clients per second at a cohort of 100 and of 1,600; the plain loop there
        logistic 784 x 62          3,836 8,293  6,099 34,679   3,945 27,349   287
        MLP 784 x 64 x 62          -            5,476 27,288   3,965 25,096   228
        CNN                        -            5,125 11,897   433            170
        CNN, stacked and compiled               4,659 13,067
        10,000 x 500, sparse       2,986        790
"""

COMPILED_TOGETHER, COMPILED_CLIENTS = 1000, 6_000_000
"""From how many clients trained together, and in a whole run, compiling pays on CUDA, for the CNN, with which alone it
was measured: 23 s once, for 7.4 us less a client (in a row 18,804 clients a second in place of 16,518). That is made
good after 3.1 million clients; from twice as many on it has gained something. At cohorts of 400 it gains nothing."""


def pays_to_compile(model: FlatModule, together: int, clients: int) -> bool:
    """Whether a run that trains so many clients in all, so many of them together, is long enough for "compiled"."""
    on_cuda = model.vector.device.type == "cuda" and isinstance(model.module, Cnn)
    return on_cuda and together >= COMPILED_TOGETHER and clients >= COMPILED_CLIENTS


SOLVERS: dict[str, Callable[[FlatModule], LocalSolver]] = {
    "dual": DualSolver,
    "stacked": StackedSolver,
    "compiled": CompiledSolver,
    "vmap": VmapSolver,
    "loop": LoopSolver,
}


def check_solver(name: str, model: FlatModule, work: Work) -> None:
    """Raise InputError for a named solver that cannot do the work."""
    refusal = None if name == "auto" else SOLVERS[name](model).refuses(work)
    if refusal:
        raise InputError("solver", name, f"another solver: {refusal}")


def choose_solver(name: str, model: FlatModule, work: Work, *, compiled: bool = False) -> LocalSolver:
    """The first that can do the work: the one that is named (unless "auto"), "compiled" where it pays, then PREFERRED.

    A named one that cannot train is refused before (`check_solver`); one that cannot fine-tune is replaced here.
    """
    asked = () if name == "auto" else (name,)
    preferred = PREFERRED[model.vector.device.type, work.clients[0].is_sparse]
    candidates = (SOLVERS[each](model) for each in (*asked, *(("compiled",) if compiled else ()), *preferred))
    return next(candidate for candidate in candidates if candidate.refuses(work) is None)
