"""What is computed of a whole array: its largest place, its sum, the list of its entries."""

from __future__ import annotations

import ast

KEPT = {"argmax": (">", "-inf"), "argmin": ("<", "inf")}


def reduced(node: ast.Call) -> tuple[ast.expr | None, str]:
    """(E, what is computed of it), of np.argmax(E), E.argmax(), sum(E), list(E) and so on."""
    module, _, name = ast.unparse(node.func).rpartition(".")
    records = name in ("sum", "mean") and [ast.unparse(each) for each in node.keywords] == ["axis=0"]
    if (node.keywords and not records) or (name not in ("sum", "mean", "tolist", "list") and name not in KEPT):
        return None, name
    if len(node.args) == 1 and (module in ("np", "numpy") or name in ("sum", "list")) and name != "tolist":
        return node.args[0], name
    if not node.args and isinstance(node.func, ast.Attribute) and name != "list":
        return node.func.value, name
    return None, name
