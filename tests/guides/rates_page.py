"""docs/papers/rates.md: every rate's slope on noisy runs of the trainers, its bound over the truth, and a plot.

    python tests/guides/rates_page.py docs [--quick | --missing | --again]

Writes papers/rates.md, figures/rates/*.png and results/rates.json into the folder, half an hour of CPU; --quick has
three seeds and no plots. --missing keeps what results/rates.json has of these rates and measures the others, so that
what was cut off goes on; with --again nothing is measured, and the page is made from the numbers that are there.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from measured import dpfedmtl, mocha, pmtl, pmtl_exact
from measured.rate import ALPHA, Measured, Rate, measured

from dpcert.mechanisms import InputError

SEEDS, QUICK_SEEDS = 8, 3
RESULTS, PAGE, FIGURES = Path("results/rates.json"), Path("papers/rates.md"), Path("figures/rates")
PAPERS = ("PMTL", "DPFedMTL", "MOCHA")
TOLD_APART = ("paper", "problem", "clipping", "quantity", "parameter", "stated")
USAGE = "usage: python tests/guides/rates_page.py FOLDER [--quick | --missing | --again]"

HEAD = """# Rates, measured on noisy runs of the trainers

Theorems state how an error grows with the noise, the dimension, the number of rounds and so on. Each line of these
tables takes one such rate and measures it on runs of the trainer that the theorem is about, with what is random in that
trainer: the noise, or the nodes that drop out and the order of the samples. These are measurements on instances, and
they prove nothing.

- **Problems**: quadratics (or ridge regression) whose constants are known; logistic or softmax regression (for
  DPFedMTL, which needs layers to share, two layers under a softmax); and a small CNN. Each is run without clipping, and
  with a clip norm that shortens most updates. MOCHA trains no networks and does not clip.
- **Measured slope**: the slope of the logarithm of the mean over seeds, against the logarithm of the parameter. In
  brackets: its confidence interval at {confidence} (Student's, by the jackknife over seeds).
- **Bound/truth**: the smallest and the median ratio, over the sizes, of what the theorem allows to what was measured.
  Where a printed constant is wrong, the corrected one is used ([PMTL](../theory/convergence.md),
  [DPFedMTL](../theory/dpfedmtl.md), [MOCHA](../theory/mocha.md)). There is no bound where a constant is not known, or
  where updates are clipped, which the theorems exclude.
- **Step sizes**: those of the theorems, 1/(pL + (p + 1/p) lambda) for PMTL and 1/(lambda L) for DPFedMTL. There are two
  exceptions. For F - F* the step size of Theorem 5 is unstable, so half of 1/(L + lambda) is used. The smoothness of
  the CNN and of the two layers is not known, so their step size is fixed, and the bounds suppose that it is small
  enough. For MOCHA, sigma' is that of the run, and the bound is the paper's (6). DPFedMTL's noise on networks is
  measured from where a run without noise has settled.

`python tests/guides/rates_page.py docs` makes this page, with {seeds} seeds (0 to {last}). The numbers are in
[results/rates.json](../results/rates.json).

| slope | meaning |
|---|---|
| attained | the interval, widened by 0.05, contains the stated exponent |
| loose | the quantity behaves better than the bound allows: the bound is true, and not attained |
| not reached | the slope is on the wrong side, but the bound holds at every size: the range is too small for the rate |
| contradicted | the slope is on the wrong side |
| outside | the slope is on the wrong side, in runs that clip: the theorem does not cover them |
"""


def rates() -> list[Rate]:
    """All papers'."""
    return [*pmtl_exact.rates(), *pmtl.rates(), *dpfedmtl.rates(), *mocha.rates()]


def to_json(found: Measured) -> dict[str, Any]:
    """What the page shows of a rate, and its values."""
    rate = found.rate
    bounds = None if rate.bound is None else [rate.bound(size) for size in rate.sizes]
    kept = ("paper", "place", "problem", "clipping", "quantity", "parameter", "stated", "relation", "sizes")
    own = {name: getattr(rate, name) for name in kept}
    return own | {
        "slope": found.slope,
        "interval": [found.low, found.high],
        "verdict": found.verdict,
        "bound": bounds,
        "bound over truth": found.loose,
        "exceeded": found.exceeded,
        "values": found.values.tolist(),
        "figure": f"{rate.key}.png",
    }


def as_markdown(results: Sequence[dict[str, Any]]) -> str:
    """The page: what was measured, and which rates have not been yet."""
    seeds = len(results[0]["values"])
    parts = [HEAD.format(confidence=f"{1 - ALPHA:.1%}", seeds=seeds, last=seeds - 1)]
    for paper in PAPERS:
        parts += [f"## {paper}", "", *_table([each for each in results if each["paper"] == paper]), ""]
    return "\n".join([*parts, *_left(results)]).rstrip() + "\n"


def _left(results: Sequence[dict[str, Any]]) -> list[str]:
    known = {of_recorded(each) for each in results}
    left = [rate for rate in rates() if of_rate(rate) not in known]
    if not left:
        return []
    lines = [f"- {rate.paper}, {rate.problem}{', clipped' if rate.clipping else ''}: {rate.parameter}" for rate in left]
    return ["## Not measured yet", "", "`--missing` measures these and leaves the others as they are.", "", *lines]


def _table(results: Sequence[dict[str, Any]]) -> list[str]:
    names = ("problem", "clipped", "quantity", "in", "stated", "measured", "slope", "bound/truth", "plot")
    lines = [f"| {' | '.join(names)} |", "|" + "---|" * len(names)]
    for each in results:
        low, high = each["interval"]
        stated = {"is": "", "at most": "at most ", "at least": "at least "}[each["relation"]] + f"{each['stated']:g}"
        sizes = f"{each['parameter']} = {each['sizes'][0]:g} to {each['sizes'][-1]:g}"
        loose = each["bound over truth"]
        told = (
            ""
            if loose is None
            else f"{_short(loose[0])}, {_short(loose[1])}" + (" **exceeded**" if each["exceeded"] else "")
        )
        cells = (
            each["problem"],
            "yes" if each["clipping"] else "",
            each["quantity"],
            sizes,
            f"{stated} ({each['place']})",
            f"{each['slope']:.3f} [{low:.3f}, {high:.3f}]",
            each["verdict"],
            told,
            f"[plot](../{FIGURES}/{each['figure']})",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _short(value: float) -> str:
    """Three digits, rounded down: a ratio that is said is a ratio that there is."""
    return f"{math.floor(value * 100 + 1e-6) / 100:.2f}"


def draw(results: Sequence[dict[str, Any]], folder: Path) -> None:
    """One plot per rate: every seed, their mean, the bound, and the stated slope through the first mean."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    folder.mkdir(parents=True, exist_ok=True)
    for each in results:
        sizes, values = np.array(each["sizes"]), np.array(each["values"])
        means = values.mean(axis=0)
        figure, axes = pyplot.subplots(figsize=(4.4, 3.3))
        for own in values:
            axes.plot(sizes, np.where(own > 0, own, np.nan), "o", color="tab:blue", markersize=2, alpha=0.4)
        axes.plot(sizes, means, "o-", color="tab:blue", label=f"measured, slope {each['slope']:.2f}")
        axes.plot(
            sizes,
            means[0] * (sizes / sizes[0]) ** each["stated"],
            "--",
            color="grey",
            label=f"stated: {each['relation']} {each['stated']:g}",
        )
        if each["bound"] is not None:
            axes.plot(sizes, each["bound"], "-", color="tab:red", label="bound")
        axes.set(xscale="log", yscale="log", xlabel=each["parameter"], ylabel=each["quantity"])
        axes.set_xticks(sizes, [f"{size:g}" for size in sizes])
        axes.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
        axes.set_title(
            f"{each['paper']}, {each['problem']}" + (", clipped" if each["clipping"] else ""), fontsize="small"
        )
        axes.legend(fontsize="x-small")
        figure.tight_layout()
        figure.savefig(folder / each["figure"], dpi=100, metadata={"Software": None})
        pyplot.close(figure)


def main(arguments: list[str]) -> int:
    """Measure, or read what was measured, and write."""
    wanted = [argument for argument in arguments if not argument.startswith("--")]
    options = set(arguments) - set(wanted)
    if len(wanted) != 1 or len(options) > 1 or not options <= {"--quick", "--missing", "--again"}:
        print(USAGE, file=sys.stderr)
        return 2
    folder = Path(wanted[0])
    for part in (RESULTS, PAGE):
        (folder / part).parent.mkdir(parents=True, exist_ok=True)
    if "--again" not in options:
        _measure(
            folder / RESULTS,
            read(folder / RESULTS) if "--missing" in options else [],
            QUICK_SEEDS if "--quick" in options else SEEDS,
        )
    results = read(folder / RESULTS)
    (folder / PAGE).write_text(as_markdown(results))
    if "--quick" not in options:
        draw(results, folder / FIGURES)
    return 0


def _measure(file: Path, known: Sequence[dict[str, Any]], seeds: int) -> None:
    """Every rate that is not known; the file is whole after each of them."""
    before = {of_recorded(each): each for each in known}
    wanted = rates()
    found = {of_rate(rate): before[of_rate(rate)] for rate in wanted if of_rate(rate) in before}
    for rate in wanted:
        if of_rate(rate) in found:
            continue
        found[of_rate(rate)] = _rounded(to_json(measured(rate, seeds)))
        text = ",\n".join(
            json.dumps(found[of_rate(each)], allow_nan=False) for each in wanted if of_rate(each) in found
        )
        file.write_text(f"[\n{text}\n]\n")
        print(f"{len(found)} of {len(wanted)}: {rate.key} {found[of_rate(rate)]['slope']:.3f}", file=sys.stderr)


def of_rate(rate: Rate) -> tuple[object, ...]:
    """What tells a rate from all others."""
    return tuple(getattr(rate, name) for name in TOLD_APART)


def of_recorded(each: dict[str, Any]) -> tuple[object, ...]:
    """The same of what was recorded."""
    return tuple(each[name] for name in TOLD_APART)


def read(file: Path) -> list[dict[str, Any]]:
    """What `main` wrote. Raises InputError for what is no such file."""
    try:
        results: list[dict[str, Any]] = json.loads(file.read_text())
    except (OSError, ValueError) as error:
        raise InputError("results", str(file), "a rates.json that this module wrote") from error
    return results


def _rounded(value: Any) -> Any:
    """Floats to six digits: the file is for reading, and for drawing again."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {name: _rounded(inner) for name, inner in value.items()}
    return [_rounded(inner) for inner in value] if isinstance(value, list | tuple) else value


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
