"""Tables as the text of a TOML file, which Python's library only reads."""

from __future__ import annotations

from typing import Any


def as_toml(tables: dict[str, Any]) -> str:
    """Tables of texts, numbers, lists of texts, and lists of tables ([[phase]], inline)."""
    lines = []
    for name, table in tables.items():
        for one in table if isinstance(table, list) else [table]:
            lines.append(f"[[{name}]]" if isinstance(table, list) else f"[{name}]")
            lines += [f"{key} = {_value(value)}" for key, value in one.items()]
            lines.append("")
    return "\n".join(lines)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{" ".join(escaped.split())}"'
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    return repr(value)
