"""Theorem 7 (Appendix A.3; Theorem 5 in the text): its step size and its rate, over the reals."""

from __future__ import annotations

import z3

L, MU, LAMBDA, P, ETA, C = z3.Reals("L mu lambda p eta c")
SMOOTH, CONVEX = L + LAMBDA, MU + LAMBDA
