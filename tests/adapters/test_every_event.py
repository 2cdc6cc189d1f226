"""Every event class of dp_accounting, in every relation: priced, or refused by name."""

import gc
import importlib
import inspect
import pkgutil

import pytest

dp_accounting = pytest.importorskip("dp_accounting")

from dp_accounting import NeighboringRelation, dp_event  # noqa: E402

from dpcert.accounting import dominating  # noqa: E402
from dpcert.adapters.dp_accounting import RELATIONS, Released, Unsupported, released  # noqa: E402

GAUSSIAN = dp_event.GaussianDpEvent(1.0)
EXAMPLES = {
    "NoOpDpEvent": dp_event.NoOpDpEvent(),
    "NonPrivateDpEvent": dp_event.NonPrivateDpEvent(),
    "GaussianDpEvent": GAUSSIAN,
    "LaplaceDpEvent": dp_event.LaplaceDpEvent(1.0),
    "ComposedDpEvent": dp_event.ComposedDpEvent([GAUSSIAN, dp_event.LaplaceDpEvent(2.0)]),
    "SelfComposedDpEvent": dp_event.SelfComposedDpEvent(GAUSSIAN, 3),
    "PoissonSampledDpEvent": dp_event.PoissonSampledDpEvent(0.1, GAUSSIAN),
    "SampledWithReplacementDpEvent": dp_event.SampledWithReplacementDpEvent(10, 2, GAUSSIAN),
    "SampledWithoutReplacementDpEvent": dp_event.SampledWithoutReplacementDpEvent(10, 2, GAUSSIAN),
    "SingleEpochTreeAggregationDpEvent": dp_event.SingleEpochTreeAggregationDpEvent(1.0, 8),
}
PRICED = {
    "add-remove": {"NoOp", "NonPrivate", "Gaussian", "Laplace", "Composed", "SelfComposed", "PoissonSampled"}
    | {"SampledWithoutReplacement", "DiscreteLaplace", "ZC", "TruncatedSubsampledGaussian", "RepeatAndSelect"},
}
PRICED["replace-one"] = PRICED["add-remove"] | {"SingleEpochTreeAggregation", "RandomizedResponse"}
PRICED["zero-out"] = PRICED["replace-one"] | {"MixtureOfGaussians"}
PRICED["add-remove"] |= {"MixtureOfGaussians"}
REFUSED = {"Unsupported", "SampledWithReplacement"}
"""In every relation; no others are known of."""


def classes():
    """All of its kinds of events, wherever in its package they are; its own tests' are not meant."""
    for module in pkgutil.walk_packages(dp_accounting.__path__, "dp_accounting."):
        if not module.name.endswith("_test"):
            importlib.import_module(module.name)
    return sorted(_below(dp_event.DpEvent), key=lambda cls: cls.__name__)


def _below(kind):
    """Subclasses of subclasses too; what tests define is told by its module."""
    for cls in kind.__subclasses__():
        if cls.__module__.startswith("dp_accounting.") and not cls.__module__.endswith("_test"):
            yield cls
        yield from _below(cls)


def example(cls):
    """An event of the class; numbers of 1 and whole events where nothing better is known."""
    if cls.__name__ in EXAMPLES:
        return EXAMPLES[cls.__name__]
    known = {"noise_parameter": 0.5, "num_buckets": 3, "sensitivity": 1, "event": GAUSSIAN, "xi": 0.0, "delta": 1e-6}
    known |= {"sigmas": [1.0], "standard_deviation": 1.0, "sensitivities": [1.0], "sampling_probs": [1.0]}
    parameters = inspect.signature(cls).parameters.values()
    return cls(**{p.name: known.get(p.name, 1) for p in parameters if p.default is p.empty})


@pytest.mark.parametrize("relation", RELATIONS.values())
@pytest.mark.parametrize("cls", classes(), ids=lambda cls: cls.__name__)
def test_priced_or_refused_by_name(cls, relation):
    event = example(cls)
    try:
        found = released(event, relation)
    except Unsupported as refusal:
        told = str(refusal)
        found = None
        assert told.startswith(cls.__name__)
    assert (found is not None) == (cls.__name__.removesuffix("DpEvent") in PRICED[relation])
    if isinstance(found, Released) and found.run is not None:
        assert dominating(found.run, relation).upper


def all_are_known():
    return {cls.__name__.removesuffix("DpEvent") for cls in classes()} == PRICED["zero-out"] | REFUSED


def test_a_new_kind_of_event_is_noticed():
    """Planted: one more, below another one."""
    assert all_are_known()
    new = type("NewDpEvent", (dp_event.GaussianDpEvent,), {"__module__": dp_event.__name__})
    assert not all_are_known()
    with pytest.raises(Unsupported, match="NewDpEvent"):
        released(new(1.0), "add-remove")
    del new
    gc.collect()


def test_every_relation_is_translated():
    assert set(RELATIONS) == set(NeighboringRelation)
