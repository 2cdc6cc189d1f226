"""Small worlds drawn at random: the same run twice, as a description for the accountants and as an oracle's setting."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import adaptive_cohorts
import federation as fed
import sides
from judging import RESOLVED

from dpcert.accounting import epsilon
from dpcert.accounting.billboard.guarantees import Observer
from dpcert.accounting.billboard.observers import observer_epsilon
from dpcert.accounting.bracket import Bracket
from dpcert.mechanisms import (
    Cyclic,
    DiscreteGaussian,
    DiscreteLaplace,
    DistributedDiscreteGaussian,
    DistributedGaussian,
    FixedSize,
    Gaussian,
    Group,
    Laplace,
    Mechanism,
    Poisson,
    RandomAllocation,
    Repeat,
    Sequence,
    Shuffled,
    Skellam,
    TruncatedPoisson,
    VisibleParticipation,
    WithReplacement,
)
from dpcert.mechanisms.aggregation import Aggregation, PerClientNoise, SampleCountMean, SecureAggregation, UniformMean

RELATIONS = ("add-remove", "zero-out", "replace-one")
ONE_SAMPLE = {
    "two gaussians": ("gaussian", "gaussian"),
    "gaussian and laplace": ("gaussian", "laplace"),
    "two lattices": ("discrete-gaussian", "discrete-laplace"),
}
"""Several releases about one sample: the noise of each. The second one's scale is twice the first one's."""

ADDITIVE = ("gaussian", "laplace", "discrete-gaussian", "discrete-laplace")
NOISES = (*ADDITIVE, "distributed", "skellam", "shares", *ONE_SAMPLE)
SCHEMES = (
    "none",
    "poisson",
    "poisson at rate 1",
    "fixed-size",
    "fixed-size, everybody",
    "truncated",
    "with-replacement",
    "shuffled",
    "cyclic",
    "allocated",
    "allocated, several",
    "shown poisson",
    "shown poisson at rate 1",
    "shown fixed-size",
)
VIEWS = ("hidden", "visible", "pooled")
OBSERVERS = ("server", "all others", "one other", "final models", "outside")
AGGREGATIONS = ("none", "uniform mean", "sample counts", "client noise", "secure", "secure, dropouts")


@dataclass(frozen=True)
class World:
    """A run of `clients` clients; either a view of `epsilon`'s, or an observer (with an aggregation).

    units: of the group in which neighbours differ."""

    noise: str
    scheme: str
    relation: str
    sees: str
    aggregation: str | None = None
    stateful: bool = False
    clients: int = 3
    cohort: int = 1
    rounds: int = 2
    rate: float = 0.5
    scale: float = 1.0
    dimension: int = 1
    delta: float = 0.05
    units: int = 1

    @property
    def multiplier(self) -> float:
        """Of the released sum's noise, in units of the heaviest contribution."""
        if self.aggregation not in (None, "none"):
            return self.aggregated().clients_noise_multiplier()
        return self.scale

    def base(self) -> Mechanism:
        if self.noise in ONE_SAMPLE:
            kinds = {"gaussian": Gaussian, "laplace": Laplace, "discrete-gaussian": DiscreteGaussian}
            kinds["discrete-laplace"] = DiscreteLaplace
            laws = ONE_SAMPLE[self.noise]
            return Sequence(*(kinds[law](scale) for law, scale in zip(laws, self._scales(), strict=True)))
        if self.noise == "discrete-gaussian":
            return DiscreteGaussian(self.scale)
        if self.noise == "discrete-laplace":
            return DiscreteLaplace(self.scale)
        if self.noise == "skellam":
            return Skellam(self.scale**2 * self._together(), 1.0, 1)
        if self.noise == "shares":
            return DistributedDiscreteGaussian(self.scale, self._together(), 1.0, 1)
        if self.noise == "distributed":
            return DistributedGaussian(self.scale * math.sqrt(self._together()))
        return Laplace(self.scale) if self.noise == "laplace" else Gaussian(self.multiplier)

    def _scales(self) -> tuple[float, ...]:
        return tuple(self.scale * (1 + k) for k in range(len(ONE_SAMPLE[self.noise])))

    def _together(self) -> int:
        """How many clients' noise adds up in a round; with rounds that show who came, nobody else's counts."""
        return 1 if self.scheme.startswith("shown") else self._cohort()

    def _cohort(self) -> int:
        return self.cohort if self.scheme in ("fixed-size", "with-replacement") else self.clients // self._batches()

    def _batches(self) -> int:
        return self.rounds if self.scheme in ("shuffled", "cyclic") else 1

    def run(self) -> Mechanism:
        """What the product is told."""
        return Group(self._run(), self.units) if self.units > 1 else self._run()

    def _run(self) -> Mechanism:
        base = self.base()
        m, t = self.clients, self.rounds
        blocks: dict[str, Mechanism] = {}
        if self.scheme == "shuffled":
            return Shuffled(base, t)
        if self.scheme == "cyclic":
            return Cyclic(base, t)
        if self.scheme.startswith("allocated"):
            return RandomAllocation(base, t, self._each())
        rate = 1.0 if self.scheme.endswith("rate 1") else self.rate
        if "poisson" in self.scheme:
            blocks["one"] = Poisson(base, rate)
        elif self.scheme == "truncated":
            blocks["one"] = TruncatedPoisson(base, rate, m, self.cohort)
        elif "fixed-size" in self.scheme:
            blocks["one"] = FixedSize(base, m, m if "everybody" in self.scheme else self.cohort)
        elif self.scheme == "with-replacement":
            blocks["one"] = WithReplacement(base, m, self.cohort)
        one = blocks.get("one", base)
        if self.scheme.startswith("shown"):
            assert isinstance(one, Poisson | FixedSize)
            one = VisibleParticipation(one)
        return Repeat(one, t)

    def _each(self) -> int:
        return 2 if self.scheme == "allocated, several" else 1

    def aggregated(self) -> Aggregation:
        q = self._cohort()
        if self.aggregation == "client noise":
            return PerClientNoise(1.0, self.scale, q)
        if self.aggregation == "secure":
            return SecureAggregation(1.0, self.scale / math.sqrt(q), q)
        if self.aggregation == "secure, dropouts":
            return SecureAggregation(1.0, self.scale / math.sqrt(q), q, dropouts=1)
        if self.aggregation == "sample counts":
            return SampleCountMean(1.0, self.scale / q, self.counts(), q)
        return UniformMean(1.0, self.scale / q, q)

    def counts(self) -> tuple[float, ...]:
        """Sample counts, the unit's the largest."""
        return (3.0, *(1.0 + 0.5 * i for i in range(self.clients - 1)))

    def ask(self) -> Bracket:
        """The product's answer at the world's delta; InputError where it refuses."""
        run, relation = self.run(), self.relation
        if self.aggregation is None:
            if self.sees == "visible":
                return epsilon(run, self.delta, relation, participation="visible")
            return epsilon(run, self.delta, relation, notion="billboard" if self.sees == "pooled" else "dp")
        return observer_epsilon(
            run,
            self.observer(),
            self.delta,
            relation,
            clients="stateful" if self.stateful else "stateless",
            aggregation=None if self.aggregation == "none" else self.aggregated(),
        ).epsilon

    def observer(self) -> Observer:
        kinds = {"server": "server", "outside": "outside", "final models": "final-models"}
        return Observer(kinds.get(self.sees, "coalition"), 1 if self.sees == "one other" else None)

    def setting(self) -> fed.Setting:
        """The oracle's: who draws which noise, and what is seen of the coins."""
        others = tuple(range(self.units, self.clients))
        colluders = {"pooled": others, "all others": others, "one other": others[:1]}.get(self.sees, ())
        sees = "coalition" if colluders else "unit" if self.sees in ("visible", "server") else "release"
        if self.scheme.startswith("shown"):
            sees = "coalition with unit" if colluders else "unit"
        law = {"distributed": "gaussian", "shares": "discrete-gaussian"}.get(self.noise, self.noise)
        client_noise = self.aggregation in ("client noise", "secure", "secure, dropouts")
        brought = client_noise or self.noise in ("distributed", "skellam", "shares")
        variance, weights = self._variance(), None
        if self.aggregation == "client noise" and self.sees == "server":
            sees = "uploads"
        if client_noise and self.aggregation != "client noise" and self.sees == "server":
            sees = "unit"
        if self.aggregation == "sample counts":
            weights = tuple(Fraction(count) for count in self.counts())
        if self.scheme.startswith("shown") and brought:  # what is left to whoever subtracts the others' noise
            colluders, sees = others, "coalition with unit"
        scheme = self._coins()
        if self.noise in ONE_SAMPLE:
            laws = ONE_SAMPLE[self.noise] * self.rounds
            variances = tuple(Fraction(scale) ** 2 for scale in self._scales()) * self.rounds
            return fed.Setting(scheme, variances, weights, brought, laws, sees, colluders)
        return fed.Setting(scheme, variance, weights, brought, law, sees, colluders)

    def _variance(self) -> Fraction:
        """Of what is drawn, exactly as the product was told: of the server's noise, or of one client's."""
        base, n = self.base(), self._together()
        if isinstance(base, Skellam):
            return Fraction(base.variance) / n
        if isinstance(base, DistributedGaussian):
            return Fraction(base.noise_multiplier) ** 2 / n
        if self.aggregation in (None, "none"):
            return Fraction(self.scale) ** 2
        on_mean = Fraction(self.aggregated().noise_std) ** 2  # type: ignore[attr-defined]
        per_sum = {"uniform mean": n**2, "secure": n, "secure, dropouts": n}
        return on_mean * per_sum.get(self.aggregation, 1)

    def _coins(self) -> fed.Scheme:
        t, m = self.rounds, self.clients
        inner = self._drawn(t, m, Fraction(1) if self.scheme.endswith("rate 1") else Fraction(self.rate))
        if self.aggregation == "secure, dropouts":  # of every cohort somebody else drops out
            return lambda there: [(p, tuple(cohort[:-1] for cohort in coins)) for p, coins in inner(there)]
        return inner

    def _drawn(self, t: int, m: int, rate: Fraction) -> fed.Scheme:
        if "poisson" in self.scheme:
            return fed.poisson(t, rate)
        if "everybody" in self.scheme or self.scheme == "none":
            return fed.everybody(t)
        if "fixed-size" in self.scheme:
            return fed.fixed_size(t, self.cohort)
        return {
            "truncated": lambda: fed.poisson(t, rate, self.cohort),
            "with-replacement": lambda: fed.with_replacement(t, self.cohort),
            "shuffled": lambda: fed.shuffled(t),
            "cyclic": lambda: fed.cyclic(t),
            "allocated": lambda: fed.allocated(t),
            "allocated, several": lambda: fed.allocated(t, self._each()),
        }[self.scheme]()

    def pairs(self, *, extreme: bool) -> Iterator[tuple[sides.Side, sides.Side]]:
        """Neighbouring federations."""
        if self.units > 1:
            yield from sides.groups(self.relation, self.clients, self.units)
            return
        points = self._points()
        yield from sides.neighbours(self.relation, self.clients, points, extreme=extreme)
        if len(points[0]) == 1 and (self.stateful or "poisson" in self.scheme or self.sees in ("visible", "pooled")):
            yield from sides.stateful_pairs(self.relation, self.clients)

    def _points(self) -> list[sides.Vector]:
        """Contributions: of several releases each by itself, but where the unit may be in any of several rounds. There
        that is too much to resolve: of normal ones alike in both, which sum up to one, else in the first alone."""
        if self.noise not in ONE_SAMPLE:
            return sides.grid(self.dimension)
        known = self.scheme == "shuffled" and self.sees in ("all others", "pooled")
        several = self.scheme in ("shuffled", "allocated", "allocated, several") and not known
        if several and self.noise == "two gaussians":
            return [(x, x) for (x,) in sides.grid(1)]
        if several and (self.noise, self.scheme) != ("two lattices", "shuffled"):
            return [(x, sides.ZERO) for (x,) in sides.grid(1)]
        return [(x, y) for (x,) in sides.grid(1) for (y,) in sides.grid(1)]

    @property
    def is_solved(self) -> bool:
        """Whether the interval is of data that follow what was released before: adaptive_cohorts.py."""
        nobody = self.sees == "hidden" if self.aggregation is None else self.sees in ("outside", "final models")
        hidden = nobody and self.relation != "add-remove"
        several = self.scheme == "fixed-size" and self.cohort < self.clients and self.rounds > 1 and self.units == 1
        return hidden and several and self.noise in ("gaussian", "distributed")

    def most(self, epsilon: float, decided: fed.Decided = lambda low, high: False, *, extreme: bool = True) -> fed.Ends:
        """Ends of the largest divergence over the neighbours, narrowed until they are decided or close."""
        fixed = fed.most(self.setting(), self.pairs(extreme=extreme), epsilon, RESOLVED * self.delta, decided)
        if not self.is_solved:
            return fixed
        following = self._following(epsilon)
        return max(fixed[0], following[0]), max(fixed[1], following[1])

    def _following(self, epsilon: float) -> fed.Ends:
        """Of data that follow what was released before."""
        one = replace(self, rounds=1)
        worst = adaptive_cohorts.of_rounds
        return worst(self.rounds, one.setting(), one.pairs(extreme=True), self.relation, epsilon)
