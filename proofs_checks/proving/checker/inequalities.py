"""Inequalities as z3 reads them, by its C interface: z3's Python operators look for coercions, six times as long.

What that interface returns is kept in a name until it is used: z3 forgets terms that no Python object holds.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import z3

from .forms import Form, Sign


class Inequalities:
    """A z3 solver of linear inequalities, each known by a literal that stands for it in questions."""

    def __init__(self) -> None:
        self._solver = z3.SolverFor("QF_LRA")
        self._solver.set("ctrl_c", False)  # else z3 keeps the interrupt to itself
        self._solver.set("unsat_core", True)
        self._literals: dict[Any, Any] = {}
        self._signs: dict[int, Sign] = {}

    def hold(self, signs: Sequence[Sign]) -> Any:
        """z3's answer whether they hold together: z3.sat, z3.unsat, z3.unknown."""
        literals = _asts([self._literal(sign) for sign in signs])
        context = self._solver.ctx.ref()
        return z3.CheckSatResult(z3.Z3_solver_check_assumptions(context, self._solver.solver, len(signs), literals))

    def contradiction(self) -> list[Sign]:
        """After unsat: some that do not hold together."""
        return [self._signs[literal.get_id()] for literal in self._solver.unsat_core()]

    def values(self, names: Sequence[str]) -> dict[str, Fraction]:
        """After sat: a point at which they hold."""
        model = self._solver.model()
        return {name: Fraction(model.eval(_real(name), True).as_string()) for name in names}

    def _literal(self, sign: Sign) -> Any:
        key = sign.key()
        if key not in self._literals:
            literal, total = z3.Bool(f"p{len(self._literals)}"), term(sign.form)
            context, compared = literal.ctx.ref(), z3.Z3_mk_gt if sign.strict else z3.Z3_mk_ge
            held = z3.BoolRef(compared(context, total.ast, _number(Fraction(0)).ast), literal.ctx)
            rule = z3.BoolRef(z3.Z3_mk_implies(context, literal.ast, held.ast), literal.ctx)
            z3.Z3_solver_assert(context, self._solver.solver, rule.ast)
            self._literals[key], self._signs[literal.get_id()] = literal, sign
        return self._literals[key]


def term(form: Form) -> Any:
    """The form for z3."""
    parts = [_real(name) if slope == 1 else _multiple(name, slope) for name, slope in form.slopes.items()]
    if form.at_zero or not parts:
        parts.append(_number(form.at_zero))
    if len(parts) == 1:
        return parts[0]
    return z3.ArithRef(z3.Z3_mk_add(parts[0].ctx.ref(), len(parts), _asts(parts)), parts[0].ctx)


def _asts(terms: Sequence[Any]) -> Any:
    return (z3.Ast * len(terms))(*[each.ast for each in terms])


_real = functools.lru_cache(4096)(z3.Real)


@functools.lru_cache(4096)
def _number(value: Fraction) -> Any:
    return z3.RealVal(str(value))


@functools.lru_cache(4096)
def _multiple(name: str, slope: Fraction) -> Any:
    return _number(slope) * _real(name)
