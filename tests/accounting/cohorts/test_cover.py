"""Theorems 2 and 3: every federation's round is below some box, at every loss."""

from __future__ import annotations

import numpy as np
import pytest
from cases import many

from dpcert.accounting.cohorts.cover import Box, Family, Inscribed, Opened
from dpcert.accounting.pairs import Order

from .oracle import pair_bump


def parts(root: Box, count: int) -> list[Box]:
    boxes: list[Box] = [root]
    while len(boxes) < count:
        boxes.sort(key=lambda box: -box.size)
        boxes += boxes.pop(0).split()
    return boxes


def in_ball(rng: np.random.Generator, radius: float) -> np.ndarray:
    point = rng.normal(size=2)
    return radius * np.sqrt(rng.uniform()) ** rng.integers(0, 2) * point / np.linalg.norm(point)


@pytest.mark.parametrize("kind", ["replace-one", "zero-out", "zero-out, other order"])
@pytest.mark.parametrize(("shift", "rate"), [(0.5, 0.25), (0.0625, 0.5)])
def test_every_federation_is_below_a_box(kind: str, shift: float, rate: float) -> None:
    order = Order.REMOVE if kind == "zero-out" else Order.ADD
    root: Box = Inscribed() if kind == "replace-one" else Opened(order=order)
    step, width = shift / 4, 8
    family = Family(shift, rate, root, step, width)
    kernels = [family.kernel(box) for box in parts(root, 40)]
    losses = step * np.arange(-width, width + 1)
    rng = np.random.default_rng(18)
    for _ in range(many(25)):
        g, h = in_ball(rng, shift), in_ball(rng, shift)
        other = in_ball(rng, shift) if kind == "replace-one" else np.zeros(2)
        first, second = (other, g) if kind == "zero-out, other order" else (g, other)
        bump = pair_bump(losses, rate, first - h, second - h)
        assert any(np.all(bump <= kernel + 1e-12) for kernel in kernels)
        assert np.all(bump <= family.hybrid + 1e-12)


def test_boxes_cover_their_parent() -> None:
    rng = np.random.default_rng(2)
    boxes = parts(Inscribed(), 60)
    for _ in range(many(300)):
        first, low = rng.uniform(0, 1, 2)
        if first + low > 1:
            continue
        assert any(b.first <= first <= b.last and b.low <= low <= b.high for b in boxes)  # type: ignore[attr-defined]


def test_a_part_is_below_its_parent() -> None:
    for root in (Inscribed(), Opened(), Opened(order=Order.ADD)):
        family = Family(0.5, 0.25, root, 0.1, 12)
        for parent in parts(root, 12):
            for part in parent.split():
                assert np.all(family.kernel(part) <= family.kernel(parent) + 1e-12)
