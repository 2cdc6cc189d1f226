"""Two Gaussians on the line whose variances differ: the divergence in closed form, for tests."""

from mpmath import erfc, exp, log, mpf, sqrt


def hockey_stick(mean: mpf, first: mpf, second: mpf, epsilon: mpf) -> mpf:
    """P[S] - e^epsilon Q[S] at its largest, P = N(mean, first), Q = N(0, second), by variances; first != second.

    log(dP/dQ) = a x^2 + b x + c; S is where it exceeds epsilon: outside two roots (a > 0), or between them (a < 0).
    """
    a = (1 / second - 1 / first) / 2
    b = mean / first
    c = log(second / first) / 2 - mean**2 / (2 * first) - epsilon
    inside = b * b - 4 * a * c
    if inside <= 0:
        return max(mpf(0), 1 - exp(epsilon)) if a > 0 else mpf(0)
    low, high = sorted([(-b - sqrt(inside)) / (2 * a), (-b + sqrt(inside)) / (2 * a)])

    def between(centre: mpf, variance: mpf) -> mpf:
        scale = sqrt(2 * variance)
        return (erfc((low - centre) / scale) - erfc((high - centre) / scale)) / 2

    p, q = between(mean, first), between(mpf(0), second)
    return (1 - p) - exp(epsilon) * (1 - q) if a > 0 else p - exp(epsilon) * q


def epsilon_of_two_gaussians(mean: mpf, first: mpf, second: mpf, delta: mpf) -> mpf:
    """The smallest epsilon at delta, the larger of the two orders; by bisection to 1e-12."""
    low, high = mpf(0), mpf(1)

    def exceeds(epsilon: mpf) -> bool:
        there, back = hockey_stick(mean, first, second, epsilon), hockey_stick(-mean, second, first, epsilon)
        return max(there, back) > delta

    while exceeds(high):
        low, high = high, 2 * high
    while high - low > mpf(10) ** -12:
        middle = (low + high) / 2
        low, high = (middle, high) if exceeds(middle) else (low, middle)
    return high
