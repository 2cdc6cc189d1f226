"""[mechanism] tables made from a description: its fields with their checks and meanings (mechanisms/quantity.py)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Annotated, Any, ClassVar, Literal, cast, get_args

from pydantic import create_model

from .. import Mechanism
from ..quantity import quantities
from ..word import Word
from .fields import KindTable, described_keys, spelt
from .kinds import KINDS, ExactTable
from .norms import NormedTable


class DescribedTable(ExactTable):
    """A table whose keys are the fields of a mechanism's description, beside those that a base of it declares.

    of: the description. fixed: fields that have this value in every table of the kind. otherwise: fields that the base
    states by other keys.
    """

    of: ClassVar[type[Mechanism]]
    fixed: ClassVar[Mapping[str, Any]] = {}
    otherwise: ClassVar[tuple[str, ...]] = ()

    def mechanism(self, **otherwise: Any) -> Any:
        """The description, of the keys' values. otherwise: of fields that other keys state."""
        own = quantities(self.of).keys() & type(self).model_fields.keys()
        return self.of(**{name: getattr(self, name) for name in own}, **self.fixed, **otherwise)

    def __reduce__(self) -> tuple[Any, ...]:
        """For another process: the class is found by its kind, since no module has it by its name."""
        return _empty, (self.kind,), self.__getstate__()


def _empty(kind: str) -> KindTable:
    table: type[KindTable] = KINDS[kind]
    return table.__new__(table)


def table_of(
    kind: str,
    mechanism: type[Mechanism],
    summary: str,
    base: type[DescribedTable] = DescribedTable,
    fixed: Mapping[str, Any] | None = None,
) -> type[DescribedTable]:
    """The table that claim files write as kind = "...". summary: a line about it. base: what the table says beside the
    description. fixed: fields of the description that the kind says.

    Raises TypeError where a field of the description says nothing of its check and meaning.
    """
    known, keys = quantities(mechanism), {}
    for field in fields(mechanism):  # type: ignore[arg-type]
        if field.name in {*base.model_fields, *base.otherwise, *(fixed or ())}:
            continue
        if field.name not in known:
            raise TypeError(f"{mechanism.__name__}.{field.name} has no Quantity")
        plain, quantity = known[field.name]
        default = ... if field.default is MISSING else field.default
        keys[field.name] = (Annotated[_spelt(plain), quantity], default)
    name, of_kind = "".join(map(str.capitalize, kind.split("-"))) + "Table", {"kind": (Literal[kind], ...)}
    made = create_model(name, __base__=base, __doc__=summary, **cast("dict[str, Any]", of_kind | keys))
    made.of, made.fixed = mechanism, fixed or {}
    return made


def _spelt(plain: Any) -> Any:
    """Of a field that takes a word of a list, or its spelling: the word, as the schema lists it."""
    kinds = [each for each in get_args(plain) if isinstance(each, type) and issubclass(each, Word)]
    return Annotated[kinds[0], spelt(kinds[0])] if kinds else plain


def row_of(kind: str) -> str:
    """The row of docs/claims.md: the kind, what it is, and its keys with what they mean."""
    table: type[KindTable] = KINDS[kind]
    described_elsewhere, keys = NormedTable if issubclass(table, NormedTable) else KindTable, []
    for name, quantity in described_keys(table).items():
        if name in described_elsewhere.model_fields:
            continue
        default = table.model_fields[name].default
        shown = "" if table.model_fields[name].is_required() or default is None else f" (default {_shown(default)})"
        keys.append(f"`{name}`: {quantity.meaning}{shown}")
    about = " ".join((table.__doc__ or "").partition("\n\n")[0].split())
    return f'| `"{kind}"` | {"; ".join(keys)}. {about} |'


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
