"""[mechanism] tables made from a description: its fields with their checks and meanings (mechanisms/quantity.py)."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Annotated, Any, ClassVar, Literal, cast, get_args

from pydantic import Field, create_model

from .. import Mechanism
from ..quantity import quantities
from ..word import Word
from .fields import KindTable, checked, spelt
from .kinds import KINDS, ExactTable


class DescribedTable(ExactTable):
    """A table whose keys are the fields of a mechanism's description."""

    of: ClassVar[type[Mechanism]]

    def mechanism(self) -> Mechanism:
        """The description, of the keys' values."""
        return self.of(**{name: getattr(self, name) for name in quantities(self.of)})

    def __reduce__(self) -> tuple[Any, ...]:
        """For another process: the class is found by its kind, since no module has it by its name."""
        return _empty, (self.kind,), self.__getstate__()


def _empty(kind: str) -> KindTable:
    table: type[KindTable] = KINDS[kind]
    return table.__new__(table)


def table_of(kind: str, mechanism: type[Mechanism], told: str) -> type[DescribedTable]:
    """The table that claim files write as kind = "...". told: a line about it.

    Raises TypeError where a field of the description says nothing of its check and meaning.
    """
    known, keys = quantities(mechanism), {}
    for field in fields(mechanism):  # type: ignore[arg-type]
        if field.name not in known:
            raise TypeError(f"{mechanism.__name__}.{field.name} has no Quantity")
        plain, quantity = known[field.name]
        default = ... if field.default is MISSING else field.default
        keys[field.name] = (
            Annotated[_spelt(plain), checked(quantity.in_claims)],
            Field(default=default, description=quantity.meaning),
        )
    name, of_kind = "".join(map(str.capitalize, kind.split("-"))) + "Table", {"kind": (Literal[kind], ...)}
    made = create_model(name, __base__=DescribedTable, __doc__=told, **cast("dict[str, Any]", of_kind | keys))
    made.of = mechanism
    return made


def _spelt(plain: Any) -> Any:
    """Of a field that takes a word of a list, or its spelling: the word, as the schema lists it."""
    kinds = [each for each in get_args(plain) if isinstance(each, type) and issubclass(each, Word)]
    return Annotated[kinds[0], spelt(kinds[0])] if kinds else plain


def row_of(kind: str) -> str:
    """The row of docs/claims.md: the kind, what it is, and its keys with what they mean."""
    table: type[KindTable] = KINDS[kind]
    keys = []
    for name, field in table.model_fields.items():
        if name in KindTable.model_fields:
            continue
        default = "" if field.is_required() or field.default is None else f" (default {_shown(field.default)})"
        keys.append(f"`{name}`: {field.description}{default}")
    return f'| `"{kind}"` | {"; ".join(keys)}. {table.__doc__} |'


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
