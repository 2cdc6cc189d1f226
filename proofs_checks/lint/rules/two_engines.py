"""Two engines on the same data, each of which counts its own steps only."""

from __future__ import annotations

import ast

from ..accounting import MAKE_PRIVATE, asks_for_epsilon
from ..rule import Found, Rule, Slip
from ..script import Script, dotted

Key = tuple[object, str]
APART = Slip(
    "two privacy engines train on the same data, and each counts its own steps only: what both models reveal together "
    "costs more than either epsilon",
    "use one engine for both, give the second one the first one's accountant, or compose both runs",
)


def find(script: Script) -> Found:
    """engine.make_private(data_loader=loader), and the same with another engine, both of which may run."""
    if not asks_for_epsilon(script) or _is_shared(script):
        return
    seen: list[tuple[ast.Call, ast.Call, Key]] = []
    for call in sorted((call for call in script.calls if script.tail(call) in MAKE_PRIVATE), key=script.position):
        engine, data = _engine(script, call), _data(script, call)
        if engine is None or data is None:
            continue
        before = [other for other, made, its in seen if made is not engine and its == data]
        if any(not _exclude_each_other(script, other, call) for other in before):
            yield call, APART
        seen.append((call, engine, data))


def _is_shared(script: Script) -> bool:
    """second.accountant = first.accountant."""
    stored = (node for node in script.nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))
    return any(node.attr == "accountant" for node in stored)


def _engine(script: Script, call: ast.Call) -> ast.Call | None:
    """The PrivacyEngine(...) of which the method is called: the last one before it that the name is bound to."""
    if not isinstance(call.func, ast.Attribute):
        return None
    owner = call.func.value
    made = [owner] if isinstance(owner, ast.Call) else script.values(owner)
    engines = [each for each in made if isinstance(each, ast.Call) and script.tail(each) == "PrivacyEngine"]
    return max((each for each in engines if each.lineno <= call.lineno), key=script.position, default=None)


def _data(script: Script, call: ast.Call) -> Key | None:
    """What is trained on: the loader's data set where the file makes the loader, else the loader's own name."""
    loader = script.keyword(call, "data_loader")
    if loader is None:
        return None
    made = [loader] if isinstance(loader, ast.Call) else script.values(loader)
    loaders = [each for each in made if isinstance(each, ast.Call) and script.tail(each) == "DataLoader"]
    if len(loaders) == 1:
        given = script.argument(loaders[0], 0, "dataset")
        loader = loader if given is None else given
    name = dotted(loader)
    return None if name is None else (script.home(loader), name)


def _exclude_each_other(script: Script, earlier: ast.AST, later: ast.AST) -> bool:
    """Whether at most one of them runs: they are in different branches, or the earlier one's branch returns."""
    first, second = _branches(script, earlier), _branches(script, later)
    if any(parent in second and second[parent] is not branch for parent, branch in first.items()):
        return True
    together = script.scope(earlier) is script.scope(later)
    left = [branch for parent, branch in first.items() if parent not in second and together]
    return any(isinstance(branch[-1], ast.Return | ast.Raise) for branch in left)


def _branches(script: Script, node: ast.AST) -> dict[ast.If, list[ast.stmt]]:
    """The branch that the node is in, of each `if` around it."""
    found: dict[ast.If, list[ast.stmt]] = {}
    while (parent := script.parents.get(node)) is not None:
        if isinstance(parent, ast.If) and node is not parent.test:
            found[parent] = parent.body if node in parent.body else parent.orelse
        node = parent
    return found


RULE = Rule(
    id="two-engines",
    slip="`first.make_private(data_loader=loader)`, then `second.make_private(data_loader=loader)`",
    why=(
        "An engine's accountant knows the steps of its own optimizer. Two models that are trained on the same people "
        "and are both released cost what both runs cost together."
    ),
    instead="one engine, or a shared accountant, for all that is released of the same data",
    find=find,
    bad="""from opacus import PrivacyEngine
first, second = PrivacyEngine(), PrivacyEngine()
a, oa, la = first.make_private(module=a, optimizer=oa, data_loader=loader)
b, ob, lb = second.make_private(module=b, optimizer=ob, data_loader=loader)  # slip
print(first.get_epsilon(1e-5), second.get_epsilon(1e-5))
""",
    good="""from opacus import PrivacyEngine
engine = PrivacyEngine()
a, oa, la = engine.make_private(module=a, optimizer=oa, data_loader=loader)
b, ob, lb = engine.make_private(module=b, optimizer=ob, data_loader=loader)
print(engine.get_epsilon(1e-5))
""",
)
