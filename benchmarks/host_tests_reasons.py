"""Why some of the hosts' own tests do not pass with dpcert as the accountant: by suite, and by patterns of names."""

from __future__ import annotations

from fnmatch import fnmatchcase

_ANSWERS = "asserts that the accountant refuses the event under this relation; dpcert has a certified interval for it"
_TIGHTER = "asserts the accountant's own upper bound as a number; dpcert's certified interval lies below it"
_WORDS = "asserts a ValueError with its own wording; dpcert refuses the same value, with another error and wording"
_WIDTH = "asserts epsilon to 6e-8; dpcert's interval holds the number, and is 1e-6 wide by default"
_CLT = "asserts the number of the central limit theorem, which is no bound: the certified interval lies above it"
_LESS_NOISE = "asserts the noise that the accountant's own bound needs; by dpcert's bound less noise meets the target"

REASONS: dict[str, dict[str, str]] = {
    "dp-accounting PLD": {
        "test_composition_errors_for_neighboring_relation[123]": _ANSWERS,
        "test_poisson_subsampling_laplace_not_supported_for_replace_one": _ANSWERS,
        "test_mixture_of_gaussians_basic": _WIDTH,
        "test_truncated_subsampled_gaussian_basic": _TIGHTER,
    },
    "dp-accounting RDP": {
        "test_supports": _ANSWERS,
        "test_tree_wrong_neighbor_rel_replace": _ANSWERS,
        "test_compute_rdp_poisson_sampled_gaussian": _TIGHTER + " at order 1.5",
        "test_laplace_repetition": _TIGHTER + ": 81.57 for 100",
        "test_repeat_and_select_pure_poisson_mean10": _TIGHTER + ": 20.0 for 50,724",
        "test_compute_rdp_tree_restart_raise_*": _WORDS,
        "test_raises_on_invalid_*": _WORDS,
        "test_log_a_frac_early_termination": "asserts a warning that orders are dropped; dpcert drops none",
    },
    "Opacus accountants_test": {
        "test_gdp_accountant": _CLT,
        "test_get_noise_multiplier_gdp": _CLT,
        "test_rdp_accountant": _TIGHTER,
        "test_prv_accountant": _TIGHTER,
        "test_get_noise_multiplier_*_epochs": _LESS_NOISE,
        "test_get_noise_multiplier_*_steps": _LESS_NOISE,
        "test_accountant_load_state_dict": "asserts that an RDP history is refused; dpcert goes on with it",
    },
    "Opacus accounting_noise_multiplier_test": {},
}


def reason_for(suite: str, test: str) -> str | None:
    """Why the test does not pass; None for one that has to."""
    known = REASONS.get(suite, {})
    return next((why for pattern, why in known.items() if fnmatchcase(test, pattern)), None)
