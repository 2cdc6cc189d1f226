"""The rules, by the names under which they report."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .budgets import delta_above_one_over_n, delta_from_cohort, epsilon_added, other_epochs
from .clip_after_aggregation import clip_after_aggregation
from .clt_epsilon import clt_reported_as_epsilon
from .default_generator import default_generator
from .delta_from_batches import delta_from_batches
from .early_stopping import early_stopping
from .federated import fixed_cohort_as_poisson
from .finding import Finding, Level, Slip
from .fixed_noise import noise_drawn_again
from .keras_privacy import keras_examples, keras_loss, keras_microbatches
from .noise_before_averaging import noise_before_averaging
from .noise_scale import gaussian_formula, laplace_scale, realised_batch, sensitivity_below_clip
from .opacus_objects import clip_bounds_nothing, engine_each_round, used_before_private
from .sampling_rate import sampling_rate_from_batches
from .sampling_scheme import poisson_accounting_of_other_batches
from .script import Script


@dataclass(frozen=True, slots=True)
class Rule:
    """A known slip: `find` yields the nodes that make it."""

    id: str
    find: Callable[[Script], Iterator[tuple[ast.AST, Slip]]]
    level: Level = "warning"


RULES = (
    Rule("delta-from-batches", delta_from_batches),
    Rule("poisson-accounting", poisson_accounting_of_other_batches),
    Rule("clt-epsilon", clt_reported_as_epsilon),
    Rule("sampling-rate-from-batches", sampling_rate_from_batches),
    Rule("noise-before-averaging", noise_before_averaging),
    Rule("clip-after-aggregation", clip_after_aggregation),
    Rule("used-before-private", used_before_private),
    Rule("engine-each-round", engine_each_round),
    Rule("clip-bounds-nothing", clip_bounds_nothing),
    Rule("noise-drawn-again", noise_drawn_again),
    Rule("default-generator", default_generator, "note"),
    Rule("other-epochs", other_epochs),
    Rule("delta-from-cohort", delta_from_cohort),
    Rule("delta-above-one-over-n", delta_above_one_over_n),
    Rule("epsilon-added", epsilon_added),
    Rule("gaussian-formula", gaussian_formula),
    Rule("laplace-scale", laplace_scale),
    Rule("sensitivity-below-clip", sensitivity_below_clip),
    Rule("realised-batch", realised_batch),
    Rule("keras-microbatches", keras_microbatches),
    Rule("keras-loss", keras_loss),
    Rule("keras-examples", keras_examples),
    Rule("fixed-cohort-as-poisson", fixed_cohort_as_poisson),
    Rule("early-stopping", early_stopping),
)


def findings(script: Script) -> list[Finding]:
    """What the rules find in a script, by line; nothing where it is not about privacy. One finding a rule and line."""
    if not script.about_privacy:
        return []
    found: dict[tuple[int, str], Finding] = {}
    for rule in RULES:
        for node, slip in rule.find(script):
            line, column = script.position(node)
            cell, within = script.places[line - 1] if script.places else (None, line)
            finding = Finding(script.path, within, column, rule.id, slip.problem, slip.remedy, cell, rule.level)
            found.setdefault((line, rule.id), finding)
    in_order = sorted(found, key=lambda place: (place[0], found[place].column, place[1]))
    return [found[place] for place in in_order]
