"""The peers as subjects of the conformance kit: how each is made, fed and read."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from hypothesis import strategies as st

from dpcert.adapters.dp_accounting import CertifiedAccountant
from dpcert.testing import NotServed, Phase, Subject
from dpcert.testing.subject import noises, rates


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


def finer() -> Subject:
    """dp-accounting's PLD on a grid ten times finer than its default."""
    from dp_accounting.pld import PLDAccountant

    return DpAccounting("dp-accounting PLD, finer grid", partial(PLDAccountant, value_discretization_interval=1e-5))
