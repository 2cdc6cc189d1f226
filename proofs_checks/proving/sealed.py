"""No other source of randomness than `rng`: a mechanism that uses one is refused, whatever way it reached it."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from .unsupported import unsupported


@contextmanager
def sealed() -> Iterator[None]:
    """Global generators must not move; new ones cannot be seeded from the system."""
    before = _global_state()
    with patch.object(os, "urandom", _refused), patch.object(random, "_urandom", _refused), _generators():
        yield
    if before != _global_state():
        raise unsupported("the function draws from a global random generator instead of `rng`")


def _global_state() -> Any:
    state: Any = np.random.get_state()  # noqa: NPY002 (the global one is watched)
    return random.getstate(), state[1].tobytes(), state[2:]


def _refused(*_: Any, **__: Any) -> Any:
    raise unsupported("the function draws randomness from elsewhere than `rng`")


@contextmanager
def _generators() -> Iterator[None]:
    with patch.object(np.random, "default_rng", _refused), patch.object(np.random, "RandomState", _refused):
        yield
