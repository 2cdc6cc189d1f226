"""The conformance kit on the peers, in one run: which property each accountant breaks, with a smallest example.

One command, `make conformance`, installs the peers in their own environment and writes docs/conformance-table.md.
Every "broken" of the property `truth` is proved in ball arithmetic by the checker of certificates.
"""

from __future__ import annotations

import argparse
import io
import json
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from rich.console import Console
from rich.progress import Progress

from dpcert.adapters.dp_accounting import CertifiedAccountant
from dpcert.testing import PROPERTIES, NotServed, Phase, Subject, conformance
from dpcert.testing.subject import noises, rates

HARD = [
    ((Phase(1.0, 0.01, 10_000),), 1e-10),
    ((Phase(1.0, 0.01, 10_000),), 1e-12),
    ((Phase(100.0, 0.5, 1_000_000),), 1e-10),
    ((Phase(0.6, 0.001, 10_000),), 1e-5),
]
"""Settings of small delta or many rounds, on which peers were seen to fail."""

HEADER = """# The peers through the conformance kit

Written by `make conformance` (`benchmarks/conformance.py`), here with {} settings a property, {} s of CPU time at most.
yes: held on every setting that was answered. no: broken, with an example below; a broken "truth" is proved in ball
arithmetic. -: the accountant does not serve it, or took too long. Versions: benchmarks/requirements.txt.

"""


class DpAccounting(Subject):
    """dp-accounting's protocol: events in, epsilon out."""

    def __init__(self, name: str, kind: Any, relation: str = "ADD_OR_REMOVE_ONE") -> None:
        import dp_accounting

        self.name, self.kind = name, kind
        self.relation = dp_accounting.NeighboringRelation[relation]
        self.neighbouring = "add-remove" if relation.startswith("ADD") else "replace-one"

    def new(self) -> Any:
        return self.kind(neighboring_relation=self.relation)

    def compose(self, accountant: Any, phase: Phase) -> Any:
        import dp_accounting

        event: Any = dp_accounting.GaussianDpEvent(phase.noise_multiplier)
        if phase.sampling_rate < 1:
            event = dp_accounting.PoissonSampledDpEvent(phase.sampling_rate, event)
        try:
            return accountant.compose(event, phase.rounds)
        except dp_accounting.UnsupportedEventError as refusal:
            raise NotServed(str(refusal)) from refusal

    def epsilon(self, accountant: Any, delta: float) -> float:
        return float(accountant.get_epsilon(delta))

    def misuse(self, accountant: Any) -> None:
        import dp_accounting

        accountant.compose(dp_accounting.dp_event.UnsupportedDpEvent())


class Opacus(Subject):
    """Opacus's IAccountant, fed step by step through its public history."""

    def __init__(self, name: str, mechanism: str, tolerance: float, several: int = 3) -> None:
        self.name, self.mechanism, self.tolerance, self.several = name, mechanism, tolerance, several

    def new(self) -> Any:
        from opacus.accountants import create_accountant

        return create_accountant(self.mechanism)

    def compose(self, accountant: Any, phase: Phase) -> Any:
        accountant.step(noise_multiplier=phase.noise_multiplier, sample_rate=phase.sampling_rate)
        *earlier, (noise, rate, steps) = accountant.history
        accountant.history = [*earlier, (noise, rate, steps + phase.rounds - 1)]
        return accountant

    def epsilon(self, accountant: Any, delta: float) -> float:
        try:
            return float(accountant.get_epsilon(delta=delta))
        except RuntimeError as refusal:
            raise NotServed(str(refusal)) from refusal

    def state(self, accountant: Any) -> Any:
        return accountant.state_dict()

    def restore(self, state: Any) -> Any:
        accountant = self.new()
        accountant.load_state_dict(state)
        return accountant

    def misuse(self, accountant: Any) -> None:
        if self.several > 1:
            raise NotServed("takes every step")
        accountant.step(noise_multiplier=123.0, sample_rate=0.5)


class Prv(Subject):
    """prv-accountant: all phases at once; the upper end of what it returns."""

    name, tolerance = "prv-accountant", 0.021

    def new(self) -> tuple[Phase, ...]:
        return ()

    def compose(self, accountant: tuple[Phase, ...], phase: Phase) -> tuple[Phase, ...]:
        return (*accountant, phase)

    def _bounds(self, accountant: tuple[Phase, ...], delta: float) -> tuple[float, float, float]:
        from prv_accountant import PRVAccountant
        from prv_accountant.privacy_random_variables import PoissonSubsampledGaussianMechanism as Sampled

        if not accountant:
            return 0.0, 0.0, 0.0
        parts = [Sampled(noise_multiplier=p.noise_multiplier, sampling_probability=p.sampling_rate) for p in accountant]
        rounds = [phase.rounds for phase in accountant]
        try:
            made = PRVAccountant(prvs=parts, max_self_compositions=rounds, eps_error=0.01, delta_error=delta / 1000)
            found = made.compute_epsilon(delta=delta, num_self_compositions=rounds)
        except (RuntimeError, MemoryError) as refusal:
            raise NotServed(str(refusal)) from refusal
        return tuple(map(float, found))

    def epsilon(self, accountant: tuple[Phase, ...], delta: float) -> float:
        return self._bounds(accountant, delta)[2]

    def epsilon_lower(self, accountant: tuple[Phase, ...], delta: float) -> float:
        return self._bounds(accountant, delta)[0]


class Autodp(Subject):
    """autodp's mechanisms: composed by Renyi divergence, or by its analytical Fourier accountant."""

    def __init__(self, name: str, fourier: str = "") -> None:
        self.name, self.fourier, self.tolerance = name, fourier, 1e-3

    def new(self) -> tuple[Phase, ...]:
        return ()

    def compose(self, accountant: tuple[Phase, ...], phase: Phase) -> tuple[Phase, ...]:
        return (*accountant, phase)

    def epsilon(self, accountant: tuple[Phase, ...], delta: float) -> float:
        if not accountant:
            return 0.0
        return self._fourier(accountant, delta) if self.fourier else self._renyi(accountant, delta)

    def _renyi(self, accountant: tuple[Phase, ...], delta: float) -> float:
        from autodp.mechanism_zoo import ExactGaussianMechanism
        from autodp.transformer_zoo import AmplificationBySampling, Composition

        parts = []
        for phase in accountant:
            gaussian = ExactGaussianMechanism(sigma=phase.noise_multiplier)
            sampler = AmplificationBySampling(PoissonSampling=True)
            parts.append(sampler(gaussian, phase.sampling_rate) if phase.sampling_rate < 1 else gaussian)
        return float(Composition()(parts, [phase.rounds for phase in accountant]).get_approxDP(delta))

    def _fourier(self, accountant: tuple[Phase, ...], delta: float) -> float:
        from autodp.mechanism_zoo import GaussianMechanism
        from autodp.transformer_zoo import ComposeAFA

        if any(phase.sampling_rate < 1 for phase in accountant):
            raise NotServed("tried on plain Gaussians")
        parts = [GaussianMechanism(sigma=phase.noise_multiplier, phi_off=False) for phase in accountant]
        return float(ComposeAFA()(parts, [phase.rounds for phase in accountant]).get_approxDP(delta))


class Fewer(Subject):
    """Phases that a slow peer answers within a second."""

    def phases(self) -> st.SearchStrategy[Phase]:
        return st.builds(Phase, noises(), rates(), st.sampled_from((20, 50, 200)))


class PrvFewer(Fewer, Prv):
    pass


class OpacusFewer(Fewer, Opacus):
    pass


class PlainGaussians(DpAccounting):
    def phases(self) -> st.SearchStrategy[Phase]:
        return st.builds(Phase, noises(), st.just(1.0), st.sampled_from((1, 10, 50, 200)))


class AutodpPlain(Autodp):
    phases = PlainGaussians.phases


def subjects() -> Iterator[Subject]:
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.rdp import RdpAccountant

    import dpcert.adapters.opacus

    yield DpAccounting("dpcert (dp-accounting adapter)", CertifiedAccountant)
    yield PlainGaussians("dpcert, replace-one", CertifiedAccountant, "REPLACE_ONE")
    yield Opacus("dpcert (Opacus adapter)", dpcert.adapters.opacus.NAME, 1e-6)
    yield DpAccounting("dp-accounting PLD", PLDAccountant)
    yield DpAccounting("dp-accounting RDP", RdpAccountant)
    yield PlainGaussians("dp-accounting RDP, REPLACE_ONE", RdpAccountant, "REPLACE_ONE")
    yield OpacusFewer("Opacus PRV", "prv", 0.021)
    yield Opacus("Opacus RDP", "rdp", 1e-6)
    yield Opacus("Opacus GDP", "gdp", 1e-6, several=1)
    yield PrvFewer()
    yield Autodp("autodp RDP")
    yield AutodpPlain("autodp Fourier", "analytical")


class TooSlow(BaseException):
    """Not an Exception, so that no peer's own handler swallows it."""


@contextmanager
def _limit(seconds: int) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TooSlow

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)  # CPU time, so that a busy machine does not hide a defect.
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def measure(subject: Subject, names: list[str], examples: int, limit: int, tick: Any) -> dict[str, dict[str, str]]:
    """Every property's finding; hard settings one by one, so that a slow one does not hide the next."""
    found = {}
    for name in names:
        found[name] = _tried(subject, name, examples, (), limit)
        plain = isinstance(subject, PlainGaussians | AutodpPlain)
        for hard in HARD if name == "truth" and found[name]["outcome"] == "passed" and not plain else ():
            harder = _tried(subject, name, 0, (hard,), limit)
            if harder["outcome"] == "broken":
                found[name] = harder
                break
        tick()
    return found


def _tried(subject: Subject, name: str, examples: int, hard: tuple[Any, ...], limit: int) -> dict[str, str]:
    try:
        with _limit(limit), warnings.catch_warnings(), redirect_stdout(io.StringIO()):  # autodp prints
            warnings.simplefilter("ignore")
            (finding,) = conformance(subject, [name], examples=examples, hard=hard)
    except TooSlow:
        return {"property": name, "outcome": "not served", "detail": f"over {limit} s of CPU time"}
    return asdict(finding)


def table(results: dict[str, dict[str, dict[str, str]]]) -> str:
    """A Markdown table and the smallest example of everything broken."""
    sign = {"passed": "yes", "broken": "**no**", "not served": "-", "not tried": ""}
    lines = [f"| | {' | '.join(name.replace('_', ' ') for name in PROPERTIES)} |", "|---" * (len(PROPERTIES) + 1) + "|"]
    for name, found in results.items():
        cells = [sign[found[key]["outcome"] if key in found else "not tried"] for key in PROPERTIES]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += ["", "| accountant | property | what it did |", "|---|---|---|"]
    for name, found in results.items():
        for key, finding in found.items():
            if finding["outcome"] == "broken":
                detail = " ".join(finding["detail"].replace("|", "/").split())[:300]
                lines.append(f"| {name} | {key.replace('_', ' ')} | {detail} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=9, help="settings a property")
    parser.add_argument(
        "--limit", type=int, default=60, help="CPU seconds after which a property is given up on a peer"
    )
    parser.add_argument("--properties", default=",".join(PROPERTIES), help="which, separated by commas")
    parser.add_argument("--only", default="", help="peers whose name contains this")
    parser.add_argument("--write", type=Path, help="write the Markdown table to this file")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    arguments = parser.parse_args()
    names = arguments.properties.split(",")
    chosen = [subject for subject in subjects() if arguments.only in subject.name]
    results = {}
    with Progress(console=Console(file=sys.stderr), transient=True) as progress:
        task = progress.add_task("properties", total=len(chosen) * len(names))
        for subject in chosen:
            results[subject.name] = measure(
                subject, names, arguments.examples, arguments.limit, lambda: progress.advance(task)
            )
    if arguments.write:
        arguments.write.write_text(HEADER.format(arguments.examples, arguments.limit) + table(results), "utf-8")
    print(json.dumps(results, indent=1) if arguments.json else table(results))


if __name__ == "__main__":
    main()
