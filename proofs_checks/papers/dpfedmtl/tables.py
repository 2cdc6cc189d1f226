"""Tables 1 to 3: arithmetic within the tables, and what the text says of them. Accuracies are taken as given."""

from __future__ import annotations

from ..row import EXACT, Finding, Statement

CLIENTS = {"CelebA": 9343, "FEMNIST": 174}
SAMPLES = {"CelebA train": 177_457, "FEMNIST train": 34_711, "CelebA test": 22_831, "FEMNIST test": 3_955}
SKEWNESS = {"CelebA": -0.49, "FEMNIST": 0.89}
"""Table 1, train samples per client."""

ACCURACY = {
    "CelebA": {
        "Local": {"none": 89.72},
        "FedAvg": {"none": 89.98, "0.11": 90.05, "0.65": 89.50, "2.42": 85.28, "9.69": 51.65},
        "FedMTL": {"none": 90.24, "0.11": 90.28, "0.65": 90.25, "2.42": 90.26, "9.69": 89.23},
    },
    "FEMNIST": {
        "Local": {"none": 77.91},
        "FedAvg": {"none": 78.44, "0.11": 76.00, "0.65": 42.18, "2.42": 5.67, "9.69": 0.79},
        "FedMTL": {"none": 81.24, "0.11": 81.56, "0.65": 81.58, "2.42": 80.60, "9.69": 76.79},
    },
}
"""Tables 2 and 3, per cent; by noise level."""

NOISY = ("0.11", "0.65", "2.42", "9.69")


def samples_per_client(statement: Statement) -> Finding:
    """Samples over clients, rounded to two decimals, against the means of Table 1."""
    means = {name: samples / CLIENTS[name.split()[0]] for name, samples in SAMPLES.items()}
    wrong = {name: said for name, said in statement.claim["means"].items() if round(means[name], 2) != said}
    if not wrong:
        return Finding(True, "all four means are samples over clients", means, basis=EXACT)
    text = "; ".join(f"{name}: {means[name]:.2f}, not {said}" for name, said in wrong.items())
    return Finding(False, text, means, wrong, basis=EXACT)


def loss_of_accuracy(statement: Statement) -> Finding:
    """FedMTL's accuracy with noise minus without."""
    data, level = statement.domain["data"], statement.domain["sigma"]
    change = round(ACCURACY[data]["FedMTL"][level] - ACCURACY[data]["FedMTL"]["none"], 2)
    return Finding(
        change == statement.claim["change"], f"{data}, sigma = {level}: {change:+.2f}", {"change": change}, basis=EXACT
    )


def noise_costs_accuracy(statement: Statement) -> Finding:
    """Whether every noisy entry of the named methods is below the same method's entry without noise."""
    wrong = {
        f"{method}, {data}, sigma = {level}": ACCURACY[data][method][level] - ACCURACY[data][method]["none"]
        for data in ACCURACY
        for method in ("FedAvg", "FedMTL")
        for level in statement.domain["sigma"]
        if ACCURACY[data][method][level] >= ACCURACY[data][method]["none"]
    }
    if not wrong:
        return Finding(True, "every noisy entry is below the one without noise", basis=EXACT)
    text = "noise comes with no loss at " + "; ".join(f"{name} ({gain:+.2f})" for name, gain in wrong.items())
    return Finding(False, text, wrong, wrong, basis=EXACT)


def more_sensitive(statement: Statement) -> Finding:
    """FedMTL's loss of accuracy at the largest noise, by data set."""
    losses = {data: ACCURACY[data]["FedMTL"]["none"] - ACCURACY[data]["FedMTL"]["9.69"] for data in ACCURACY}
    holds = max(losses, key=lambda data: losses[data]) == statement.claim["loses more"]
    return Finding(
        holds, ", ".join(f"{data} loses {loss:.2f} points" for data, loss in losses.items()), losses, basis=EXACT
    )


def best_without_noise(statement: Statement) -> Finding:
    """The best method without noise in Table 2, on both data sets."""
    best = {}
    for data, methods in ACCURACY.items():
        plain = {name: levels["none"] for name, levels in methods.items()}
        best[data] = max(plain, key=lambda name: plain[name])
    holds = set(best.values()) == {statement.claim["best"]}
    return Finding(
        holds, "best without noise: " + ", ".join(f"{data} {name}" for data, name in best.items()), best, basis=EXACT
    )


TABLE_2 = {
    "FedAvg": {"none": (89.98, 78.44), "0.65": (89.50, 42.18), "9.69": (51.65, 0.79)},
    "FedMTL": {"none": (90.24, 81.24), "0.65": (90.25, 81.58), "9.69": (89.23, 76.79)},
}
"""Table 2's copy of what Table 3 has as well: (CelebA, FEMNIST)."""


def tables_agree(statement: Statement) -> Finding:
    """Table 2 against Table 3, up to the stated rounding in points."""
    apart = max(
        abs(value - statement.claim["shift of Table 2"] - ACCURACY[data][method][level])
        for method, levels in TABLE_2.items()
        for level, values in levels.items()
        for data, value in zip(ACCURACY, values, strict=True)
    )
    return Finding(
        apart < 0.005, f"entries differ by at most {apart:.3g} points", {"largest difference": apart}, basis=EXACT
    )


def beats_fedavg(statement: Statement) -> Finding:
    """DPFedMTL's accuracy minus DPFedAvg's at equal noise: the smallest margin of all entries."""
    margins = {
        f"{data}, sigma = {level}": round(ACCURACY[data]["FedMTL"][level] - ACCURACY[data]["FedAvg"][level], 2)
        for data in ACCURACY
        for level in NOISY
    }
    least = min(margins, key=lambda name: margins[name])
    holds = margins[least] >= statement.claim["points at least"]
    return Finding(holds, f"the smallest margin is {margins[least]:.2f} points ({least})", margins, basis=EXACT)


def gains_more(statement: Statement) -> Finding:
    """FedMTL's accuracy minus Local's without noise, by data set; Table 1's skewness is larger on FEMNIST."""
    gains = {data: round(each["FedMTL"]["none"] - each["Local"]["none"], 2) for data, each in ACCURACY.items()}
    holds = max(gains, key=lambda data: gains[data]) == statement.claim["gains more"]
    text = ", ".join(f"{data} (skewness {SKEWNESS[data]}) gains {gain:.2f} points" for data, gain in gains.items())
    return Finding(holds, text, gains, basis=EXACT)


def tolerates_noise(statement: Statement) -> Finding:
    """Accuracy lost from sigma = 0.65 to 9.69, by method and data set: whose loss is smaller on both."""
    losses = {
        method: [round(ACCURACY[data][method]["0.65"] - ACCURACY[data][method]["9.69"], 2) for data in ACCURACY]
        for method in ("FedAvg", "FedMTL")
    }
    smaller = statement.claim["loses less"]
    larger = next(method for method in losses if method != smaller)
    holds = all(a < b for a, b in zip(losses[smaller], losses[larger], strict=True))
    text = "; ".join(f"{method} loses " + " and ".join(f"{x:.2f}" for x in each) for method, each in losses.items())
    return Finding(holds, text + " points on CelebA and FEMNIST", losses, basis=EXACT)
