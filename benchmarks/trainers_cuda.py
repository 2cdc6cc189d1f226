"""Every figure of docs/trainers/speed.md, On a GPU, measured again on a CUDA device in one run of some minutes.

    python benchmarks/trainers_cuda.py [--only cnn] [--rounds 7] [--out FILE.json]
    python benchmarks/trainers_cuda.py --device cpu    # tries the script out: tiny cohorts, and nothing is compiled

Printed as they are measured: clients per second of each solver by cohort, beside the plain loop of the same machine;
how long the device computes in a round; how far updates in single precision are from double precision; from how many
clients on compiling pays; and whether what `auto` takes for the CNN reaches AIMS (exit code 1 where not). What fails is
printed as failed, and the rest goes on. The papers' figures are benchmarks/trainers_figures.sh.

One DP-FedAvg round: one local epoch, batch 10, clipping and noise, on synthetic clients of FEMNIST's shape and sizes.
"single": the median of rounds after each of which the host waits for the device; "in a row": rounds one after the
other, waiting once. The plain loop (benchmarks/trainers.py) runs on one thread of the CPU and on the device.
"graphs" is "compiled" replayed as CUDA graphs, which no option of the trainers offers: it was slower.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

from dpcert.trainers.engine.device import reproducible_kernels
from dpcert.trainers.federated import Client, DpFedAvg, Federation, LocalSteps, Settings, Trainer
from trainers import RATE, femnist_like, machine, plain_loop, stackoverflow_like

SOLVERS = {
    "logistic": ("stacked", "vmap", "dual"),
    "mlp": ("stacked", "vmap", "compiled"),
    "cnn": ("stacked", "stacked bfloat16", "compiled", "graphs"),
}
WORDS = "10,000 x 500, sparse"
AIMS = (
    ("cnn, stacked, {device}, 100", "cnn, plain loop, cpu, 100", 60),
    ("cnn, stacked, {device}, 100", "cnn, plain loop, {device}, 100", 25),
    ("cnn, stacked, {device}, 1600", "cnn, plain loop, cpu, 100", 200),
)
"""(contestant, baseline, how many times as fast it is to be, one round at a time)."""

COMPILE = torch.compile
Found = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Size:
    """cohorts: the smallest, an intermediate and the largest. clients: of those of FEMNIST's shape."""

    cohorts: tuple[int, ...]
    clients: int
    rounds: int


FULL, TINY = Size((100, 400, 1600), 206, 7), Size((2, 3, 5), 4, 1)


def reached(rates: Found, device: str = "cuda") -> list[dict[str, Any]]:
    """Each aim for which both were measured, with what was measured."""
    found = []
    for contestant, baseline, aim in AIMS:
        names = contestant.format(device=device), baseline.format(device=device)
        if all("single" in rates.get(name, {}) for name in names):
            times = rates[names[0]]["single"] / rates[names[1]]["single"]
            found.append({"contestant": names[0], "baseline": names[1], "aim": aim, "times": times, "is": times >= aim})
    return found


def pays_from(rates: Found, cohorts: Sequence[int]) -> dict[str, float] | None:
    """Seconds that compiling takes, microseconds that it saves per client, and after how many clients it has paid.

    Saved at the last of the cohorts. None where it was not measured, or saves nothing.
    """
    solvers = ("stacked", "compiled")
    measured = {cohort: [rates.get(f"cnn, {name}, cuda, {cohort}", {}) for name in solvers] for cohort in cohorts}
    if not all("in a row" in one for both in measured.values() for one in both):
        return None
    # What was compiled at one cohort is used for the others.
    seconds = sum(own["first two"] - 2 * cohort / own["in a row"] for cohort, (_, own) in measured.items())
    plain, compiled = measured[cohorts[-1]]
    saved = 1 / plain["in a row"] - 1 / compiled["in a row"]
    return {"seconds": seconds, "microseconds": 1e6 * saved, "clients": seconds / saved} if saved > 0 else None


def copies(federation: Federation, population: int) -> Federation:
    """The federation's clients again and again, under other names, until there are so many."""
    clients = [
        Client(f"{place}-{client.name}", client.train, client.test)
        for place in range(-(-population // federation.population))
        for client in federation.clients
    ]
    return Federation(federation.name, tuple(clients), federation.task, federation.outputs)


def trainer(federation: Federation, model: str, solver: str, cohort: int, device: str, dtype: str = "") -> Trainer:
    """DP-FedAvg with fixed-size cohorts."""
    name, _, low = solver.partition(" ")
    told = {"dtype": low or dtype} if low or dtype else {}
    settings = Settings(
        rounds=10**6,
        cohort=cohort,
        sampling="fixed-size" if federation.population > cohort else "full",
        clip_norm=0.5,
        noise_multiplier=1.0,
        solver="compiled" if name == "graphs" else name,
        device=device,
        seed=1,
        local=LocalSteps(RATE, 1, None, 10),
        **told,
    )
    made = Trainer(federation, DpFedAvg(), model, settings)
    if name == "graphs":
        made.local.model.derived["compiled"] = torch.compile(made.local.model.module.stacked, mode="reduce-overhead")
    return made


def now() -> float:
    """The clock once the device has done what it was given."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()


def rates(one_round: Callable[[], object], cohort: int, rounds: int) -> dict[str, float]:
    """Clients per second, one round at a time and in a row; and the seconds of the first two rounds."""
    began = now()
    one_round()
    one_round()
    warm, times = now() - began, []
    for _ in range(rounds):
        began = now()
        one_round()
        times.append(now() - began)
    began = now()
    for _ in range(rounds):
        one_round()
    in_a_row = (now() - began) / rounds
    return {"single": cohort / statistics.median(times), "in a row": cohort / in_a_row, "first two": warm}


def computing(one_round: Callable[[], object]) -> dict[str, float]:
    """Milliseconds of one round by the clock, and of those that the device computes (0 on a CPU)."""
    for _ in range(2):
        one_round()
    began = now()
    one_round()
    whole = now() - began
    with torch.profiler.profile() as profile:
        one_round()
        now()
    busy = sum(event.self_device_time_total for event in profile.key_averages())
    return {"round, ms": 1e3 * whole, "computing, ms": busy / 1e3}


def apart(federation: Federation, solver: str, device: str, *, winograd: bool = False) -> dict[str, float]:
    """The largest difference of a model of the CNN in single precision from the CPU's loop in double precision.

    winograd: vmap with cuDNN's grouped convolutions, which the trainers do not let it have.
    """
    clients = np.arange(min(5, federation.population))
    own, exact = (
        trainer(federation, "cnn", name, len(clients), place, dtype).local
        for name, place, dtype in ((solver, device, "float32"), ("loop", "cpu", "float64"))
    )
    allowed = patch("dpcert.trainers.solvers.together.plain_convolutions", lambda _: nullcontext())
    start = own.initial
    with reproducible_kernels(torch.device(device)), allowed if winograd else nullcontext():
        found = own.solver(clients, 0)(start).cpu().double()
    expected = exact.solver(clients, 0)(start.cpu().double())
    return {"largest difference": float((found - expected).abs().max())}


def traced(function: Callable[..., Any], **_: Any) -> Callable[..., Any]:
    """In place of torch.compile where the script is only tried out: traced as for it, but not compiled."""
    found: Callable[..., Any] = COMPILE(function, backend="eager")
    return found


class Measured:
    """What was found so far, by name; each printed when it is there."""

    def __init__(self) -> None:
        self.found: Found = {}

    def add(self, name: str, measure: Callable[[], dict[str, float]]) -> None:
        """Measure, or note why that failed: a device's time is too dear for losing the rest."""
        try:
            self.found[name] = measure()
            told = ", ".join(f"{kind} {value:,.4g}" for kind, value in self.found[name].items())
        except Exception as error:
            told = f"failed: {type(error).__name__}: {' '.join(str(error).split())[:300]}"
            self.found[name] = {"failed": told}
        print(f"{name:52}{told}", file=sys.stderr, flush=True)


def measure(device: str, size: Size, models: list[str]) -> Found:
    """All of them, the CNN's first."""
    told, base, least = Measured(), femnist_like(), size.cohorts[0]
    base = Federation(base.name, base.clients[: size.clients], base.task, base.outputs)
    for model in models:
        for place in dict.fromkeys(("cpu", device)):

            def loop(model: str = model, place: str = place) -> dict[str, float]:
                slow = plain_loop(trainer(base, model, "loop", least, place), model, torch.device(place))
                return rates(slow, least, min(2, size.rounds))

            told.add(f"{model}, plain loop, {place}, {least}", loop)
        for cohort in size.cohorts:
            for solver in SOLVERS[model]:

                def ours(model: str = model, solver: str = solver, cohort: int = cohort) -> dict[str, float]:
                    own = trainer(copies(base, cohort + 1), model, solver, cohort, device)
                    return rates(own._round, cohort, size.rounds)

                told.add(f"{model}, {solver}, {device}, {cohort}", ours)
    if "cnn" in models:
        _cnn_alone(told, base, size, device)
    if "logistic" in models:
        words = stackoverflow_like(least + 1)
        for solver in ("dual", "stacked"):
            own = lambda solver=solver: trainer(words, "logistic", solver, least, device)._round  # noqa: E731
            told.add(f"{WORDS}, {solver}, {device}, {least}", lambda own=own: rates(own(), least, min(3, size.rounds)))
    return told.found


def _cnn_alone(told: Measured, base: Federation, size: Size, device: str) -> None:
    least = size.cohorts[0]
    own = lambda solver, cohort: trainer(copies(base, cohort + 1), "cnn", solver, cohort, device)._round  # noqa: E731
    told.add(f"cnn, vmap, {device}, {least}", lambda: rates(own("vmap", least), least, min(2, size.rounds)))
    for cohort in size.cohorts:
        told.add(f"cnn, a round's time, {device}, {cohort}", lambda cohort=cohort: computing(own("stacked", cohort)))
    for solver in ("loop", "stacked", "vmap"):
        told.add(f"cnn, single precision, {solver}", lambda solver=solver: apart(base, solver, device))
    told.add("cnn, single precision, vmap, with Winograd", lambda: apart(base, "vmap", device, winograd=True))


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--only", choices=tuple(SOLVERS), help="this model alone")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    if asked.device == "cuda" and not torch.cuda.is_available():
        parser.error("torch sees no CUDA device here. With --device cpu this script can be tried out.")
    torch.set_num_threads(1)
    size = TINY if asked.device == "cpu" else FULL
    size = Size(size.cohorts, size.clients, asked.rounds or size.rounds)
    models = [asked.only] if asked.only else ["cnn", "mlp", "logistic"]
    with nullcontext() if asked.device == "cuda" else patch("torch.compile", traced):
        found = measure(asked.device, size, models)
    aims = reached(found, asked.device) if asked.device == "cuda" else []
    pays = pays_from(found, size.cohorts)
    if pays:
        print(
            "compiling: {seconds:.1f} s once, {microseconds:.1f} us saved per client: pays after {clients:,.0f} "
            "clients".format(**pays),
            file=sys.stderr,
        )
    for one in aims:
        told = "reached" if one["is"] else "NOT reached"
        print(
            f"{one['contestant']}: {one['times']:.0f} times {one['baseline']}, aim {one['aim']}: {told}",
            file=sys.stderr,
        )
    told = {"machine": machine(), "device": asked.device, "measured": found, "compiling pays": pays, "aims": aims}
    document = json.dumps(told, indent=2)
    print(document)
    if asked.out:
        asked.out.write_text(document + "\n")
    return 0 if all(one["is"] for one in aims) else 1


if __name__ == "__main__":
    sys.exit(main())
