"""What each key of a claim file means, in a line: comments of `dpcert new`, descriptions of the JSON Schema."""

from __future__ import annotations

STATEMENT = {
    "title": "a line for tables",
    "author": "who published the number",
    "year": "when",
    "link": "where to read it on the web",
    "source": "where a reader finds the number",
    "notion": "dp, billboard or joint: what each other unit, or everybody, may see",
    "unit": "whose data change between neighbours: example, user, client, ... (a word for the reader)",
    "neighbouring": "add-remove, replace-one or zero-out: which two data sets must not be told apart",
    "epsilon": "as printed",
    "delta": "as printed; 0 is pure DP",
    "rho": "zCDP, instead of epsilon",
    "orders_up_to": "the largest Renyi order up to which rho is meant",
    "mu": "Gaussian DP, not its central limit, instead of epsilon",
    "fpr_at_least": "both error rates from which on mu is meant",
    "renyi": "{ order, epsilon }: the Renyi divergence of that order, instead of epsilon",
    "curve": "[[epsilon, delta], ...], all of which must hold, instead of epsilon",
    "tpr_at_fpr": "{ fpr, tpr }: the true-positive rate of the strongest attack, instead of epsilon",
    "advantage": "the strongest attack's true-positive minus false-positive rate, instead of epsilon",
    "per": "day: the claim is about one of the days that [composition] counts",
    "rdp_orders": "the Renyi orders at which the source's accountant looked, for dpcert explain",
    "epsilon_interval": "[lower, upper]: what the printed epsilon may have been before rounding",
    "coalition_sees_participation": "billboard and joint: do the others, together, know who took part?",
    "observer": "whom the claim is about: coalition, client, server, final-models or outside",
    "coalition_size": "how many other clients pool what they see",
    "clients": "stateless if nothing that a client keeps depends on when it took part, else stateful",
    "convention": "how the source computed the number",
    "assumed": "what had to be assumed to write this file",
    "implementation": "package.module:callable, which dpcert verify --audit attacks",
}

MECHANISM = {
    "kind": "the noise of one round",
    "noise_multiplier": "standard deviation (Laplace: scale) of the noise on the sum, divided by the clipping bound",
    "noise_std": "standard deviation of the noise: on the mean; per-client-gaussian: of each client",
    "clip_norm": "the bound on one unit's contribution",
    "weights": "uniform, a bound on the largest weight, or relative weights, one a client",
    "assumed_sensitivity": "the sensitivity of the mean by which the source scaled its noise",
    "sigma": "scale parameter of discrete Gaussian noise on the integers",
    "scale": "scale of discrete Laplace noise on the integers",
    "clip": "the bound on one unit's contribution, on the grid",
    "flip_probability": "how often a false category is reported",
    "categories": "how many there are",
    "variance": "of all honest clients' noise together, on the grid",
    "dimension": "how many coordinates",
    "clients": "how many add noise and do not collude",
    "rho": "zCDP of one round",
    "epsilon": "of one round",
    "delta": "of one round",
    "min_separation": "rounds from one participation to the next",
    "max_participations": "in how many rounds a unit takes part at most",
    "coefficients": "first column of the Toeplitz encoder",
    "column_norms": "of the encoder: one, or one a round",
    "bands": "how many the encoder has",
}

SAMPLING = {
    "scheme": "who takes part in a round: none, poisson, fixed-size, shuffle, cyclic or random-allocation",
    "population": "how many units there are",
    "dataset_size": "how many units there are (another name of population)",
    "cohort": "how many units take part in a round; Poisson: in expectation",
    "batch_size": "how many units take part in a round (another name of cohort)",
    "sampling_rate": "Poisson: the probability with which a unit takes part in a round",
    "max_cohort": "Poisson: larger cohorts are cut to this",
    "block": "random allocation: the rounds among which each unit picks",
    "per_block": "random allocation: how many of them it picks",
}

COMPOSITION = {
    "rounds": "how many, composed adaptively, with fresh randomness; a day, where there are days",
    "epochs": "instead of rounds: passes over the population",
    "days": "on how many days so much ran",
}
