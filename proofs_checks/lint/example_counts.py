"""Functions that are told the number of examples."""

from __future__ import annotations

from .finding import Slip

EXAMPLES_OF = {
    "compute_dp_sgd_privacy": "n",
    "compute_dp_sgd_privacy_statement": "number_of_examples",
}
"""Functions whose first argument is the number of examples, and its keyword."""
EXAMPLES = Slip(
    "the number of examples is given as the number of batches, so that the sampling rate is batch_size times too large",
    "give the number of examples, len(loader.dataset)",
)
