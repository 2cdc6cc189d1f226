"""Is a script about differential privacy at all? Where it is not, the rules say nothing."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

LIBRARIES = {
    *("opacus", "tensorflow_privacy", "dp_accounting", "prv_accountant", "autodp", "jax_privacy", "pyvacy", "fastDP"),
    *("private_transformers", "diffprivlib", "dpcert"),
}
WORDS = re.compile(
    r"noise_multiplier|target_(delta|epsilon|eps)$|l2_norm_clip|dp_?sgd|differential(ly)?_?priva|make_private"
    r"|(^|_)dp_(delta|epsilon|eps)$|privacy_(budget|engine|spent|account)|privati[sz]e|(gaussian|laplace)_mechanism",
    re.IGNORECASE,
)
"""Words that no other field uses for its own things; epsilon, delta and sigma alone are everybody's."""
PROSE = re.compile(
    r"differential(ly)?[\s-]+priva|\bdp-?sgd\b|\b(epsilon|ε)-(dp|differential)|\blocal dp\b", re.IGNORECASE
)
"""The same in docstrings."""
TOGETHER = (("eps(ilon)?", "delta", "sigma"), ("eps(ilon)?", "laplace"))
KERAS_OPTIMIZER = re.compile(r"^(VectorizedDP|DP)(Keras)?(SGD|Adam|Adagrad|RMSprop|FTRL)?(Gaussian)?\w*Optimizer$")
"""TensorFlow Privacy's."""
EPSILON = r"^(target_|total_|dp_|privacy_)?(eps|epsilon)$"
"""Names of an epsilon in a formula."""


def is_about_privacy(origins: Iterable[str], names: Collection[str], docstrings: Iterable[str]) -> bool:
    """One import of a privacy library, one telling word, or epsilon beside delta and a scale, or beside Laplace."""
    if any(origin.split(".")[0] in LIBRARIES for origin in origins):
        return True
    if any(WORDS.search(name) for name in names) or any(PROSE.search(text) for text in docstrings):
        return True
    return any(
        all(any(re.fullmatch(word, name, re.IGNORECASE) for name in names) for word in words) for words in TOGETHER
    )
