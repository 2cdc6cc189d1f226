"""A loader's own sampler before Opacus, which replaces it, or before an accountant for Poisson sampling."""

from __future__ import annotations

import ast

from ..accounting import MAKE_PRIVATE, accounts_for_poisson, asks_for_epsilon
from ..rule import Found, Rule, Slip
from ..script import Script

SAMPLERS = {
    "WeightedRandomSampler": "draws by weights",
    "SubsetRandomSampler": "draws from a part of the data",
    "RandomSampler": "draws with replacement",
    "StratifiedSampler": "draws by strata",
    "BalancedBatchSampler": "draws by class",
    "ImbalancedDatasetSampler": "draws by class",
}
REMEDY = (
    "let every example join each batch with the same probability, independently; put weights into the loss, and a part "
    "of the data into a data set of its own (torch.utils.data.Subset)"
)


def find(script: Script) -> Found:
    """DataLoader(sampler=WeightedRandomSampler(...)), and what it is handed to."""
    keeping = [
        script.says(call, "poisson_sampling", False) for call in script.calls if script.tail(call) in MAKE_PRIVATE
    ]
    replaced, kept = not all(keeping), any(keeping)
    accounted = any(accounts_for_poisson(script, call) for call in script.calls) or (kept and asks_for_epsilon(script))
    for call in script.calls if replaced or accounted else ():
        given = script.keyword(call, "sampler") if script.tail(call) == "DataLoader" else None
        made = None if given is None else script.resolved(given)
        if not isinstance(made, ast.Call) or (how := SAMPLERS.get(script.tail(made))) is None:
            continue
        if script.tail(made) == "RandomSampler" and not script.says(made, "replacement", True):
            continue
        if replaced:
            said = f"this sampler {how}, and Opacus replaces it: every batch is a Poisson sample of the whole data set"
        else:
            said = f"this sampler {how}, and the accountant assumes Poisson sampling"
        yield call, Slip(said, REMEDY)


RULE = Rule(
    id="other-sampler",
    slip="`DataLoader(sampler=WeightedRandomSampler(...))` or `SubsetRandomSampler` before Opacus or an accountant",
    why=(
        "Opacus puts a Poisson sampler over the whole data set in the place of the loader's own: weights are dropped, "
        "and examples that were left out come back. Other accountants for Poisson sampling know nothing of weights."
    ),
    instead="equal probabilities, weights in the loss, `Subset` for a part of the data",
    find=find,
    bad="""from opacus import PrivacyEngine
from torch.utils.data import DataLoader, WeightedRandomSampler
loader = DataLoader(data, batch_size=16, sampler=WeightedRandomSampler(weights, 128))  # slip
model, optimizer, loader = PrivacyEngine().make_private(
    module=model, optimizer=optimizer, data_loader=loader, noise_multiplier=1.0, max_grad_norm=1.0)
""",
    good="""from opacus import PrivacyEngine
from torch.utils.data import DataLoader
loader = DataLoader(data, batch_size=16)
model, optimizer, loader = PrivacyEngine().make_private(
    module=model, optimizer=optimizer, data_loader=loader, noise_multiplier=1.0, max_grad_norm=1.0)
""",
)
