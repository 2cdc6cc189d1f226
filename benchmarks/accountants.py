"""dpcert's accountants against the peers', in one run: value, CPU seconds, and ratios.

One command, `make bench-accountants`, installs the peers in their own environment and runs this. Times are
medians of process CPU time over repeated calls of the peer's own public function, set-up included, as a user
would call it. dpcert's calls and each peer's are interleaved, so that both see the same load; compare the ratios,
never the seconds, between machines. A call over its limit of CPU time is "over N s". "LOW" marks a peer's number below
dpcert's certified lower end: it under-reports. `--random N` takes random settings instead of the tables', against the
two peers that invert a characteristic function.
"""

from __future__ import annotations

import argparse
import json
import math
import signal
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from accountant_settings import FIXED_SIZE, POISSON, WARM_UP, Setting, bracket, random_settings
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

INVERTERS = ("dp-accounting PLD", "prv-accountant")
"""Those that random settings are measured against."""


class TooSlow(Exception):
    """A call went over its time limit."""


@contextmanager
def _limit(seconds: int) -> Iterator[None]:
    """Raises TooSlow after so many seconds of CPU time, of which a timer of CPU time would spoil the measurement."""

    start = time.process_time()

    def check(*_: object) -> None:
        if time.process_time() - start > seconds:
            raise TooSlow

    previous = signal.signal(signal.SIGALRM, check)
    signal.setitimer(signal.ITIMER_REAL, 1.0, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, previous)


def _dp_accounting(setting: Setting, accountant: str) -> float:
    import dp_accounting
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.rdp import RdpAccountant

    kind = PLDAccountant if accountant == "pld" else RdpAccountant
    gaussian = dp_accounting.GaussianDpEvent(setting.noise_multiplier)
    if setting.population:
        # There the noise multiplier of this event is relative to the replace-one sensitivity, 2 clip_norm.
        gaussian = dp_accounting.GaussianDpEvent(setting.noise_multiplier / 2)
        event = dp_accounting.SampledWithoutReplacementDpEvent(setting.population, setting.cohort, gaussian)
        relation = dp_accounting.NeighboringRelation.REPLACE_ONE
        ledger = kind(neighboring_relation=relation)
    else:
        event = dp_accounting.PoissonSampledDpEvent(setting.rate, gaussian)
        ledger = kind()
    ledger.compose(dp_accounting.SelfComposedDpEvent(event, setting.rounds))
    return float(ledger.get_epsilon(setting.delta))


def _prv(setting: Setting) -> float:
    from prv_accountant import PRVAccountant
    from prv_accountant.privacy_random_variables import PoissonSubsampledGaussianMechanism

    prv = PoissonSubsampledGaussianMechanism(
        noise_multiplier=setting.noise_multiplier, sampling_probability=setting.rate
    )
    accountant = PRVAccountant(
        prvs=[prv], max_self_compositions=[setting.rounds], eps_error=0.01, delta_error=setting.delta / 1000
    )
    _, _, upper = accountant.compute_epsilon(delta=setting.delta, num_self_compositions=[setting.rounds])
    return float(upper)


def _opacus(setting: Setting) -> float:
    from opacus.accountants import PRVAccountant

    accountant = PRVAccountant()
    accountant.history = [(setting.noise_multiplier, setting.rate, setting.rounds)]
    return float(accountant.get_epsilon(delta=setting.delta))


def _autodp(setting: Setting) -> float:
    from autodp.mechanism_zoo import ExactGaussianMechanism
    from autodp.transformer_zoo import AmplificationBySampling, Composition

    gaussian = ExactGaussianMechanism(sigma=setting.noise_multiplier)
    sampled = AmplificationBySampling(PoissonSampling=True)(gaussian, setting.rate)
    return float(Composition()([sampled], [setting.rounds]).get_approxDP(setting.delta))


def _ours(setting: Setting) -> float:
    return bracket(setting).upper


PEERS: dict[str, Callable[[Setting], float]] = {
    "dp-accounting PLD": lambda setting: _dp_accounting(setting, "pld"),
    "dp-accounting RDP": lambda setting: _dp_accounting(setting, "rdp"),
    "prv-accountant": _prv,
    "Opacus PRV": _opacus,
    "autodp RDP": _autodp,
}


@dataclass(frozen=True)
class Measured:
    """A peer's value, its median CPU seconds and ours in between its calls, or why there is none."""

    value: float | None
    seconds: float | None
    ours: float | None
    note: str


def _timed(call: Callable[[Setting], float], setting: Setting) -> tuple[float, float]:
    start = time.process_time()
    value = call(setting)
    return value, time.process_time() - start


def _measure(call: Callable[[Setting], float], setting: Setting, repeats: int, limit: int) -> Measured:
    """Each of the peer's calls is followed by three of ours."""
    times, ours, value = [], [], None
    try:
        with _limit(limit), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call(WARM_UP)  # Imports are not part of the measured time.
            for _ in range(repeats):
                value, seconds = _timed(call, setting)
                times.append(seconds)
                ours += [_timed(_ours, setting)[1] for _ in range(3)]
                if sum(times) > limit / 4:
                    break
    except TooSlow:
        if not times:
            return Measured(None, None, None, f"over {limit} s")
    except Exception as error:
        return Measured(None, None, None, f"refuses ({type(error).__name__})")
    return Measured(value, statistics.median(times), statistics.median(ours) if ours else None, "")


def _judge(measured: Measured, lower: float) -> str:
    if measured.value is None:
        return measured.note
    if math.isinf(measured.value) or math.isnan(measured.value):
        return str(measured.value)
    if measured.value < lower:
        return f"{measured.value:.6g} LOW"
    return f"{measured.value:.6g}"


def _row(setting: Setting, repeats: int, limit: int, peers: tuple[str, ...] = tuple(PEERS)) -> dict[str, object]:
    certified = bracket(setting)
    own = statistics.median(_timed(_ours, setting)[1] for _ in range(9))
    row: dict[str, object] = {
        "setting": setting.name,
        "lower": certified.lower,
        "upper": certified.upper,
        "method": certified.method,
        "seconds": own,
        "peers": {},
    }
    for name in peers:
        if setting.population and not name.startswith("dp-accounting RDP"):
            continue
        measured = _measure(PEERS[name], setting, repeats, limit)
        ratio = measured.seconds / measured.ours if measured.seconds and measured.ours else None
        row["peers"][name] = asdict(measured) | {
            "judged": _judge(measured, certified.lower),
            "ratio": ratio,
        }
    return row


def _table(rows: list[dict], title: str) -> Table:
    table = Table(title=title)
    names = list(dict.fromkeys(name for row in rows for name in row["peers"]))
    for column in ("z, rate, rounds, delta", "certified epsilon", "relative width", "ms", *names):
        table.add_column(column)
    for row in rows:
        width = (row["upper"] - row["lower"]) / row["upper"] if row["upper"] else 0.0
        cells = [row["setting"], f"{row['upper']:.10g}", f"{width:.0e}", f"{1000 * row['seconds']:.1f}"]
        for name in names:
            peer = row["peers"].get(name)
            ratio = f" ({peer['ratio']:.0f}x)" if peer and peer["ratio"] else ""
            cells.append("" if peer is None else peer["judged"] + ratio)
        table.add_row(*cells)
    return table


def _spread(rows: list[dict], name: str) -> str:
    """The ratios' quantiles, and how often they stay below the aim."""
    ratios = sorted(row["peers"][name]["ratio"] for row in rows if row["peers"][name]["ratio"])
    if not ratios:
        return f"{name}: no ratio"
    aim = 100 if "PLD" in name else 20
    least, median, most = ratios[0], statistics.median(ratios), ratios[-1]
    below = sum(ratio < aim for ratio in ratios)
    return f"{name}: {least:.0f} to {most:.0f} times, median {median:.0f}; below {aim} in {below} of {len(ratios)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3, help="timed calls a peer and setting")
    parser.add_argument("--limit", type=int, default=60, help="CPU seconds after which a peer is given up on a setting")
    parser.add_argument("--random", type=int, default=0, metavar="N", help="N random settings instead of the tables'")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    arguments = parser.parse_args()
    settings, peers = {"Poisson, add-remove": POISSON, "fixed-size, replace-one": FIXED_SIZE}, tuple(PEERS)
    if arguments.random:
        settings, peers = {"random settings": random_settings(arguments.random)}, INVERTERS
    rows: dict[str, list[dict]] = {title: [] for title in settings}
    with Progress(console=Console(file=sys.stderr), transient=True) as progress:
        task = progress.add_task("settings", total=sum(map(len, settings.values())))
        for title, measured in rows.items():
            for setting in settings[title]:
                measured.append(_row(setting, arguments.repeats, arguments.limit, peers))
                progress.advance(task)
    if arguments.json:
        print(json.dumps(rows, indent=1))
        return
    console = Console(width=220)
    for title, measured in rows.items():
        console.print(_table(measured, f"{title}: value (peer's CPU time / ours)"))
        if arguments.random:
            console.print(*(_spread(measured, name) for name in peers), sep="\n")


if __name__ == "__main__":
    main()
