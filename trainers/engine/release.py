"""What one round publishes, before anybody sees it."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from .algorithm import Clients
from .checkpoint import Rows
from .spent import digest_of


@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """pre_noise, noise: (blocks, D). sensitivity: how far one client can move pre_noise. count, count_noise: (1,), of
    adaptive clipping. rows: the personal vectors that the round changes."""

    pre_noise: Tensor
    noise: Tensor
    sensitivity: float
    count: Tensor | None
    count_noise: Tensor | None
    cohort: Clients
    rows: list[Rows]

    def digest(self) -> str:
        """By which a repeated round is recognised."""
        parts = [(self.pre_noise + self.noise).cpu().numpy()]
        if self.count is not None and self.count_noise is not None:
            parts.append((self.count + self.count_noise).cpu().numpy())
        return digest_of(*parts)
