"""What each key of a claim file means, in a line: comments of `dpcert new`, descriptions of the JSON Schema."""

from __future__ import annotations

STATEMENT = {
    "title": "a short title, shown in tables",
    "author": "who published the number",
    "year": "year of publication",
    "link": "web address of the source",
    "source": "where a reader finds the number: title, version, table or page",
    "notion": "who the attacker is: dp (anyone who sees all that is released), billboard or joint (all other clients)",
    "unit": "whose data are protected: example, user, client, ... (a word for the reader)",
    "neighbouring": "how two data sets that must look alike differ: add-remove, replace-one or zero-out",
    "epsilon": "the claimed epsilon, as printed",
    "delta": "the claimed delta, as printed; 0 means pure DP",
    "rho": "instead of epsilon: zero-concentrated DP (zCDP)",
    "orders_up_to": "the largest Renyi order for which rho is claimed",
    "mu": "instead of epsilon: Gaussian DP (proved, not its central-limit approximation)",
    "fpr_at_least": "the smallest error rate (of either kind) for which mu is claimed",
    "delta_at_least": "the smallest delta for which rho or mu is claimed; delta is another name of this key",
    "renyi": "instead of epsilon: { order, epsilon }, the Renyi divergence of that order",
    "curve": "instead of epsilon: [[epsilon, delta], ...], all of which are claimed",
    "tpr_at_fpr": "instead of epsilon: { fpr, tpr }, the strongest attack's true-positive rate at a false-positive "
    "rate",
    "advantage": "instead of epsilon: the strongest attack's true-positive minus false-positive rate",
    "group": "how many units differ between neighbouring data sets; default one",
    "phases_per_unit": "in how many of the [[phase]] tables one unit's data are used; default all",
    "per": "day: the claim is about one of the days that [composition] counts",
    "rdp_orders": "the Renyi orders that the source's accountant tried (for dpcert explain)",
    "epsilon_interval": "[lower, upper]: the values that round to the printed epsilon",
    "coalition_sees_participation": "billboard and joint: do the other clients together know who took part?",
    "observer": "the attacker: coalition, client, server, final-models or outside",
    "coalition_size": "how many other clients attack together",
    "clients": "stateless if nothing that a client keeps depends on when it took part; otherwise stateful",
    "convention": "how the source computed the number",
    "assumed": "what you had to assume to write this file",
    "implementation": "package.module:callable, the program that dpcert verify --audit attacks",
}

MECHANISM = {"kind": "the noise of one round"}
"""The other keys say themselves what they mean (mechanisms/quantity.py)."""

SAMPLING = {
    "scheme": "how the units of a round are chosen: none, poisson, fixed-size, shuffle, cyclic, random-allocation, "
    "or, with correlated noise, cyclic-poisson, balls-in-bins or min-separated",
    "population": "number of units in the data set",
    "dataset_size": "number of units in the data set (another name of population)",
    "cohort": "number of units in a round; Poisson: the expected number",
    "batch_size": "number of units in a round (another name of cohort)",
    "sampling_rate": "Poisson: each unit's probability of taking part in a round",
    "max_cohort": "Poisson: larger cohorts are cut at random to this size",
    "drop_last": "shuffled or cyclic batches: whether the incomplete last batch of an epoch is left out",
    "block": "random allocation: number of rounds per block",
    "per_block": "random allocation: in how many rounds of a block each unit takes part",
    "bins": "balls in bins: number of rounds per pass; each unit draws one of them, once",
}

COMPOSITION = {
    "rounds": "number of rounds, composed adaptively, each with new noise; where there are days, per day",
    "epochs": "instead of rounds: passes over the population",
    "days": "number of days, each with these rounds",
}
