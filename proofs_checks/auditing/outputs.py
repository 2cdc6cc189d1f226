"""A mechanism's outputs as rows of numbers, whatever they were: numbers, arrays, tensors, objects, transcripts."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...mechanisms import InputError
from .clopper_pearson import Floats
from .failures import Raised

Keys = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Outputs:
    """One row per trial, shape (trials, width), float64. float32 and integers up to 2^53 are kept exactly."""

    rows: Floats

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def width(self) -> int:
        """Numbers per trial."""
        return int(self.rows.shape[1])

    @property
    def used(self) -> int:
        """The width without what was padded because some other trial has more numbers; at least 1."""
        width = self.width
        while width > 1 and np.isnan(self.rows[:, width - 1]).all():
            width -= 1
        return width

    def part(self, start: int, stop: int) -> Outputs:
        """The trials from start to stop, without a copy."""
        return Outputs(self.rows[start:stop])

    def of_width(self, width: int) -> Outputs:
        """The first `width` numbers of each trial, NaN where it has fewer: transcripts differ in length."""
        have = self.width
        return self if have == width else Outputs(_padded(self.rows[:, :width], width))

    def keys(self) -> Keys:
        """A 64-bit hash of each row's bits; -0.0 and 0.0 differ, and all NaN with equal bits agree.

        A collision merges two outputs into one event, which costs power and never validity.
        """
        bits = np.ascontiguousarray(self.rows).view(np.uint64)
        multiplier = np.random.default_rng(0x5EED).integers(2**63, size=self.width, dtype=np.uint64) * np.uint64(2)
        mixed = (bits ^ (bits >> np.uint64(31))) * (multiplier + np.uint64(1))
        mixed ^= mixed >> np.uint64(29)
        total = np.add.reduce(mixed * np.uint64(0x9E3779B97F4A7C15), axis=1, dtype=np.uint64)
        return np.asarray(total ^ (total >> np.uint64(32)), np.uint64)


def join(parts: Sequence[Outputs]) -> Outputs:
    """All trials in order; shorter rows are padded with NaN, as transcripts that ended early are."""
    if not parts:
        return Outputs(np.empty((0, 1)))
    width = max(part.width for part in parts)
    return Outputs(np.concatenate([_padded(part.rows, width) for part in parts]))


def aligned(first: Outputs, second: Outputs) -> tuple[Outputs, Outputs]:
    """Both at the larger width."""
    width = max(first.width, second.width)
    return first.of_width(width), second.of_width(width)


class Encoder:
    """Turns raw outputs into rows, each by its own output alone.

    A row that depended on the other trials (objects numbered as they appear, a layout chosen for a whole chunk) would
    tie trials together that the tests take as independent, and could tell the sides apart by itself.
    """

    def batch(self, raw: object, count: int) -> Outputs:
        """The outputs of one batched call: an array or sequence whose first axis is the trial."""
        array = _as_array(raw)
        if array is not None:
            if array.ndim == 0 or array.shape[0] != count:
                raise InputError("mechanism", array.shape, f"outputs whose first axis has the asked-for size, {count}")
            return Outputs(array.reshape(count, -1).astype(np.float64, copy=False))
        if isinstance(raw, np.ndarray) and raw.ndim > 0:  # of strings, or of objects
            raw = list(raw)
        if not isinstance(raw, Sequence) or len(raw) != count:
            raise InputError("mechanism", type(raw).__name__, f"an array or a list of {count} outputs")
        return self.each(raw)

    def each(self, raw: Sequence[object]) -> Outputs:
        """One output per trial."""
        array = _regular(raw)  # the same rows as below, sooner
        if array is not None and array.ndim >= 1 and len(array) == len(raw) and len(raw):
            return Outputs(array.reshape(len(raw), -1).astype(np.float64, copy=False))
        rows = [_row(output) for output in raw]
        width = max((len(row) for row in rows), default=1) or 1
        return Outputs(np.array([row + [np.nan] * (width - len(row)) for row in rows], dtype=float).reshape(-1, width))


def _row(output: object) -> list[float]:
    """A regular array of numbers as it is; whatever else by its parts, depth first."""
    array = _regular(output)
    return list(_parts(output)) if array is None else array.astype(float).ravel().tolist()


def _parts(output: object) -> Iterator[float]:
    """The numbers of one output. The shape is part of it, so containers state their length."""
    if isinstance(output, Raised):
        # No number in the first column: no threshold takes a failure for a value.
        yield from (math.nan, _code(output.kind), _code(output.text))
    elif isinstance(output, bool | int | float | np.number | np.bool_) and not np.iscomplexobj(output):
        yield float(output)
    elif isinstance(output, Mapping):
        yield float(len(output))
        for key in sorted(output, key=repr):
            yield _code(key)
            yield from _parts(output[key])
    elif isinstance(output, list | tuple | set | frozenset):
        yield float(len(output))
        for item in sorted(output, key=repr) if isinstance(output, set | frozenset) else output:
            yield from _parts(item)
    else:
        array = _as_array(output)
        if array is None:
            yield _code(output)
        else:
            yield float(array.size)
            yield from array.astype(float).ravel().tolist()


def _code(thing: object) -> float:
    """A number below 2^53 for whatever has a repr of its own; a collision costs power and never validity."""
    if type(thing).__repr__ is object.__repr__:
        raise InputError("mechanism", type(thing).__name__, "outputs with a repr of their own (this one is an address)")
    text = f"{type(thing).__name__}:{thing!r}"
    return float(int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big") >> 11)


def _regular(raw: object) -> NDArray[Any] | None:
    """A number, or numbers in a regular nest of lists and arrays, as a numeric array; else None."""
    if isinstance(raw, Raised | str | bytes | Mapping):
        return None
    try:
        array = np.asarray(raw.detach().cpu() if hasattr(raw, "detach") else raw)
    except (ValueError, TypeError, RuntimeError):  # ragged, or what torch says of a list of its tensors
        return None
    return array if _numeric(array) else None


def _padded(rows: Floats, width: int) -> Floats:
    missing = width - rows.shape[1]
    return rows if missing == 0 else np.pad(rows, ((0, 0), (0, missing)), constant_values=np.nan)


def _as_array(raw: Any) -> NDArray[Any] | None:
    """A numeric array for arrays and tensors (whatever has `detach` or `__array__`), else None."""
    if hasattr(raw, "detach"):
        raw = raw.detach().cpu()
    if not hasattr(raw, "__array__"):
        return None
    array = np.asarray(raw)
    return array if _numeric(array) else None


def _numeric(array: NDArray[Any]) -> bool:
    return array.dtype.kind in "buif"
