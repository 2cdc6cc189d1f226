"""The clients whose samples stay ready between rounds: those used last, as many as a bound allows."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from .client_tensors import ClientTensors

KEPT_BYTES = 2**30
"""Of one process. A client that was dropped is read, or made, again when its turn comes: a matter of time alone."""

OBJECTS = 8192
"""Bytes of Python's and torch's objects for the parts of one client, about."""

Part = tuple[int, bool]
"""A client, and whether it is its test part."""


class Kept:
    """held: the bytes that are counted: of samples, twice, since solvers derive about as much from them."""

    def __init__(self, limit: int = KEPT_BYTES) -> None:
        self.limit, self.held = limit, 0
        self._parts: OrderedDict[Part, ClientTensors] = OrderedDict()

    def __len__(self) -> int:
        return len(self._parts)

    def get(self, part: Part, make: Callable[[], ClientTensors]) -> ClientTensors:
        """The part, made if it is not here. Those that nobody asked for longest go; this one stays in any case."""
        if part in self._parts:
            self._parts.move_to_end(part)
            return self._parts[part]
        made = self._parts[part] = make()
        self.held += cost(made)
        while self.held > self.limit and len(self._parts) > 1:
            _, dropped = self._parts.popitem(last=False)
            self.held -= cost(dropped)
        return made


def cost(samples: ClientTensors) -> int:
    """Bytes that are counted for these samples."""
    features = samples.features
    arrays = (features.data, features.indices, features.indptr) if samples.is_sparse else (features,)
    return OBJECTS + 2 * sum(int(array.nbytes) for array in (*arrays, *samples.targets))
