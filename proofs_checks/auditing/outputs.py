"""A mechanism's outputs as rows of numbers, whatever they were: numbers, arrays, tensors, objects, transcripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...mechanisms import InputError
from ...mechanisms.arrays import Floats
from .layout import Layout
from .single_values import Block
from .structure import array_of, blocks, numbers_of, plain

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
    """Turns raw outputs into rows, each by its own output alone, and keeps note of what is where in them (`layout`).

    A row that depended on the other trials (objects numbered as they appear, a layout chosen for a whole chunk) would
    tie trials together that the tests take as independent, and could tell the sides apart by itself.
    """

    def __init__(self) -> None:
        self.layout = Layout()

    def batch(self, raw: object, count: int) -> Outputs:
        """The outputs of one batched call: an array or sequence whose first axis is the trial."""
        array = None if isinstance(raw, np.ma.MaskedArray) else array_of(raw)
        numbers = None if array is None else numbers_of(array)
        if numbers is not None:
            if numbers.ndim == 0 or numbers.shape[0] != count:
                expected = f"outputs whose first axis has the asked-for size, {count}"
                raise InputError("mechanism", numbers.shape, expected)
            self.layout.regular(numbers.shape[1:])
            return Outputs(numbers.reshape(count, -1))
        if isinstance(raw, np.ndarray) and raw.ndim > 0:  # of strings, or of objects
            raw = list(raw)
        if not isinstance(raw, Sequence) or len(raw) != count:
            raise InputError("mechanism", type(raw).__name__, f"an array or a list of {count} outputs")
        return self.each(raw)

    def each(self, raw: Sequence[object]) -> Outputs:
        """One output per trial."""
        try:
            return self._each(raw)
        except RecursionError:
            raise InputError("mechanism", type(raw[0]).__name__, "outputs that do not contain themselves") from None

    def _each(self, raw: Sequence[object]) -> Outputs:
        numbers = _regular(list(raw), pairs=False)  # the same rows as below, sooner
        if numbers is not None and numbers.ndim >= 1 and len(numbers) == len(raw) and len(raw):
            self.layout.regular(numbers.shape[1:])
            return Outputs(numbers.reshape(len(raw), -1))
        rows = [self._row(output) for output in raw]
        width = max((len(row) for row in rows), default=1) or 1
        return Outputs(np.array([_filled(row, width) for row in rows]).reshape(-1, width))

    def _row(self, output: object) -> Floats:
        """A regular array of numbers as it is; whatever else by its parts, depth first."""
        numbers = _regular(output)
        if numbers is not None:
            self.layout.regular(numbers.shape)
            return numbers.ravel()
        parts = list(blocks(output))
        self.layout.irregular(parts)
        return _joined(parts)


def _joined(parts: list[Block]) -> Floats:
    return np.concatenate([np.ravel(part.values) for part in parts]) if parts else np.empty(0)


def _filled(row: Floats, width: int) -> Floats:
    return np.concatenate([row, np.full(width - len(row), np.nan)])


def _regular(raw: Any, *, pairs: bool = True) -> Floats | None:
    """A number, or numbers in a regular nest of lists and arrays, as a numeric array; else None.

    pairs: whether complex numbers, two columns each, are such numbers; among trials they may be mixed with others.
    """
    if not plain(raw):
        return None
    try:
        array = array_of(raw) if hasattr(raw, "detach") else np.asarray(raw)
    except (ValueError, TypeError, RuntimeError, OverflowError):  # ragged; or what torch says of a list of its tensors
        return None
    assert array is not None
    return None if array.dtype.kind == "c" and not pairs else numbers_of(array)


def _padded(rows: Floats, width: int) -> Floats:
    missing = width - rows.shape[1]
    return rows if missing == 0 else np.pad(rows, ((0, 0), (0, missing)), constant_values=np.nan)
