"""A sampling rate, a batch size or a number of steps that is not what runs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ..accounting import MAKE_PRIVATE, POISSON_SOURCES, accounts_for_poisson, asks_for_epsilon
from ..loaders import EXAMPLES, counts_batches, is_batch_size, last_name, stated_examples
from ..named_values import named_values
from ..noise_draws import DRAWS
from ..numbers import number
from ..rule import Found, Rule, Slip
from ..script import Script, dotted, identifiers, mentions

EPOCHS_OF = {"make_private_with_epsilon": None, "compute_dp_sgd_privacy": 3, "compute_dp_sgd_privacy_statement": 2}
"""Functions that account for a number of epochs, and its position."""


def other_epochs(script: Script) -> Found:
    """An accountant is told other epochs than the loop runs, both being stated numbers."""
    told = {found: node for node in _accounted(script) if (found := number(script, node)) is not None}
    if len(told) != 1:
        return
    ((epochs, _),) = told.items()
    for node in script.nodes:
        runs = _run(script, node)
        found = None if runs is None else number(script, runs)
        if runs is not None and found is not None and found > epochs:
            said = f"{found:g} epochs run, and the accountant was told {epochs:g}: epsilon is of a part of the training"
            yield runs, Slip(said, "give both the same name")


def _accounted(script: Script) -> Iterator[ast.expr]:
    for call in script.calls:
        if (tail := script.tail(call)) in EPOCHS_OF:
            given = script.argument(call, EPOCHS_OF[tail], "epochs", "num_epochs")
            yield from () if given is None else (given,)


def _run(script: Script, node: ast.AST) -> ast.expr | None:
    """The epochs of `for epoch in range(E)`, or of `model.fit(epochs=E)`."""
    if isinstance(node, ast.For) and isinstance(node.target, ast.Name) and "epoch" in node.target.id.lower():
        call = node.iter
        while isinstance(call, ast.Call) and call.args and script.tail(call) == "tqdm":
            call = call.args[0]
        if isinstance(call, ast.Call) and script.tail(call) in ("range", "trange") and len(call.args) == 1:
            return call.args[0]
    if isinstance(node, ast.Call) and script.tail(node) == "fit":
        return script.keyword(node, "epochs")
    return None


OTHER_EPOCHS = Rule(
    id="other-epochs",
    slip="more epochs run than the accountant was told",
    why="Epsilon is then that of a part of the training.",
    instead="one name for both",
    find=other_epochs,
    bad="""from opacus import PrivacyEngine
PrivacyEngine().make_private_with_epsilon(module=m, epochs=3, target_epsilon=1)
for epoch in range(5):  # slip
    train()
""",
    good="""from opacus import PrivacyEngine
PrivacyEngine().make_private_with_epsilon(module=m, epochs=5, target_epsilon=1)
for epoch in range(5):
    train()
""",
)


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


def other_sampler(script: Script) -> Found:
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


OTHER_SAMPLER = Rule(
    id="other-sampler",
    slip="`DataLoader(sampler=WeightedRandomSampler(...))` or `SubsetRandomSampler` before Opacus or an accountant",
    why=(
        "Opacus puts a Poisson sampler over the whole data set in the place of the loader's own: weights are dropped, "
        "and examples that were left out come back. Other accountants for Poisson sampling know nothing of weights."
    ),
    instead="equal probabilities, weights in the loss, `Subset` for a part of the data",
    find=other_sampler,
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


REALISED = Slip(
    "the noisy sum is divided by the batch that was drawn, whose size tells who was in it, and scales the noise",
    "divide by the expected batch size, sampling rate times examples, a constant",
)


def realised_batch(script: Script) -> Found:
    """(sum of gradients + noise) / len(batch), where batches are drawn by Poisson sampling."""
    if not any(script.tail(call) in POISSON_SOURCES or "poisson" in script.tail(call).lower() for call in script.calls):
        return
    for node in script.nodes:
        divided = (node.left, node.right) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) else None
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Div):
            divided = node.target, node.value
        if divided is not None and _noisy(script, divided[0]) and _is_realised(script, divided[1]):
            yield node, REALISED


def _noisy(script: Script, node: ast.expr) -> bool:
    drawn = any(isinstance(part, ast.Call) and script.tail(part) in DRAWS for part in ast.walk(script.resolved(node)))
    return drawn or any("nois" in name for name in identifiers(node))


def _is_realised(script: Script, node: ast.expr) -> bool:
    """len(x), x.shape[0], x.size(0), or a name of one of these."""
    node = script.resolved(node)
    if isinstance(node, ast.Subscript):
        return last_name(node.value) == "shape"
    if isinstance(node, ast.Call):
        length = dotted(node.func) == "len" and len(node.args) == 1
        whole = length and mentions(node.args[0], r"data_?set|loader|^train$|examples$|^x_train$")
        return (length and not whole) or script.tail(node) == "size"
    return False


REALISED_BATCH = Rule(
    id="realised-batch",
    slip="`(sum + noise) / len(batch)` with Poisson batches",
    why="The size of a Poisson batch tells who was in it, and scales the noise.",
    instead="the expected batch size",
    find=realised_batch,
    bad="""from opacus.data_loader import DPDataLoader
loader = DPDataLoader.from_data_loader(plain)
update = (total + noise) / len(batch)  # slip
""",
    good="update = (total + noise) / expected_batch_size",
)


RATE = re.compile(r"^(sample|sampling)_(rate|prob|probability|ratio)$", re.IGNORECASE)
BATCHES_BELOW = Slip(
    "the sampling rate is batch_size over the number of batches, which is no probability of anything",
    "use batch_size / len(dataset), or 1 / len(loader)",
)
BATCHES_ABOVE = Slip(
    "the sampling rate is the number of batches over the number of examples, which is 1 / batch_size",
    "use batch_size / len(dataset), or 1 / len(loader)",
)


def sampling_rate_from_batches(script: Script) -> Found:
    """Where a rate has the number of batches on the wrong side, or a number of examples is one of batches."""
    for _, value in named_values(script, RATE):
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div):
            if is_batch_size(script, value.left) and counts_batches(script, value.right):
                yield value, BATCHES_BELOW
            elif counts_batches(script, value.left) and _counts_examples(script, value.right):
                yield value, BATCHES_ABOVE
    yield from ((given, EXAMPLES) for given in stated_examples(script) if counts_batches(script, given))


def _counts_examples(script: Script, node: ast.expr) -> bool:
    behind = script.resolved(node)
    is_len = isinstance(behind, ast.Call) and dotted(behind.func) == "len"
    return is_len and mentions(behind, r"data_?set$|examples$|samples$|^x_train$|^train_(data|x|images)$")


SAMPLING_RATE_FROM_BATCHES = Rule(
    id="sampling-rate-from-batches",
    slip="`sample_rate = batch_size / len(loader)`, `len(loader) / len(dataset)`; `n=len(loader)`",
    why=("A loader's length counts batches, so this is not the probability with which an example joins a batch."),
    instead="`1 / len(loader)`, or `batch_size / len(dataset)`",
    find=sampling_rate_from_batches,
    bad="""from opacus import PrivacyEngine
sample_rate = batch_size / len(train_loader)  # slip
""",
    good="sample_rate = batch_size / len(dataset)",
)
