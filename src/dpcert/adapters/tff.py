"""What TensorFlow Federated's aggregators released: their events, extracted from the state and accounted for here.

    accountant = CertifiedAccountant(store="run.sqlite")        # dpcert.adapters.dp_accounting
    output = process.next(state, updates)
    accountant.compose(event(output.state, sampling_rate=0.01))

TFF's state says what noise a round had, not how its cohort was drawn: that has to be said, or nothing is amplified.
TFF 0.87 cannot be installed beside our dependencies by pip's rules; docs/adapters.md has the way that was tested.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dp_accounting import dp_event  # type: ignore[import-untyped]

from ..mechanisms import InputError
from ..mechanisms.validate import count, rate

FIELDS = ("query_state", "agg_state", "dp_event", "is_init_state")
"""Of tensorflow_federated's DPAggregatorState, by which it is found inside a learning process's state."""


def event(
    state: Any, *, sampling_rate: float | None = None, population: int | None = None, cohort: int | None = None
) -> dp_event.DpEvent:
    """The event of the round that led to `state`: an aggregation's or a learning process's.

    sampling_rate: each client took part by a coin of its own with this probability. population and cohort: a
    fresh cohort of fixed size was drawn. Neither: no amplification.
    Raises InputError for a state without exactly one private aggregation, or before the first round.
    """
    found = list(_aggregations(state))
    if len(found) != 1:
        raise InputError("state", type(state).__name__, f"one private aggregation in it, not {len(found)}")
    if found[0].is_init_state:
        raise InputError("state", type(state).__name__, "the state after a round: the initial one released nothing")
    released = dp_event.DpEvent.from_named_tuple(found[0].dp_event)
    if sampling_rate is not None and population is None and cohort is None:
        return dp_event.PoissonSampledDpEvent(rate("sampling_rate", sampling_rate), released)
    if sampling_rate is not None or (population is None) != (cohort is None):
        raise InputError("sampling_rate, population, cohort", (sampling_rate, population, cohort), "a rate or a pair")
    if population is None:
        return released
    size = count("cohort", cohort)
    if size > count("population", population):
        raise InputError("cohort", cohort, f"at most the population, {population}")
    return dp_event.SampledWithoutReplacementDpEvent(int(population), size, released)


def _aggregations(state: Any) -> Iterator[Any]:
    """Every DPAggregatorState inside the named tuples, attrs classes, dicts and lists that TFF's states are made of."""
    if getattr(state, "_fields", None) == FIELDS:
        yield state
    elif isinstance(state, dict):
        for value in state.values():
            yield from _aggregations(value)
    elif isinstance(state, tuple | list):
        for value in state:
            yield from _aggregations(value)
    elif hasattr(state, "__attrs_attrs__"):
        for field in state.__attrs_attrs__:
            yield from _aggregations(getattr(state, field.name))
