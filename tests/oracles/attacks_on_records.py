"""Records that are clipped, summed and released in ways that cost more than is claimed, by what each abuses.

ATTACKS: (function, options of prove). A claim of 50 is made for what is not private at all; others are a little below the
truth, which is that of one or two records. GROWING: what costs more with every record, so that no claim holds of all.
"""

# ruff: noqa
from __future__ import annotations
import math
import numpy as np

C = 1.0
ACC = []


class Holder:
    count = 0

    def __init__(self):
        self.n = 0


HOLD = Holder()


def release(total, grads, rng, scale=4.0):
    return total + rng.normal(0, scale, size=grads.shape[1])


def unit(g):
    return g / max(1.0, np.linalg.norm(g))


def units(grads):
    return grads / np.maximum(1.0, np.linalg.norm(grads, axis=1))[:, None]


ATTACKS = []


def no(rho=50.0, **o):
    def put(f):
        ATTACKS.append((f, dict(rho=rho, container="rows") | o))
        return f

    return put


@no(6)
def scaled_after(grads, rng):
    return release((units_(grads) * 10.0).sum(axis=0), grads, rng)


def units_(g):
    return g / np.maximum(1.0, np.linalg.norm(g, axis=1))[:, None]


@no(6)
def scaled_after_loop(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        total += 10.0 * unit(g)
    return release(total, grads, rng)


@no(0.12)
def clip_of_scaled(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        total += g / max(0.5, np.linalg.norm(g * 0.5))
    return release(total, grads, rng)  # up to 2


@no(0.49)
def clip_of_scaled_2(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        total += g / max(1.0, np.linalg.norm(g * 0.5))
    return release(total, grads, rng)


@no(0.2)
def bound_grows(grads, rng):
    total, bound = np.zeros(grads.shape[1]), 1.0
    for g in grads:
        total += g * min(1.0, bound / max(np.linalg.norm(g), 1e-9))
        bound = bound + 1.0
    return release(total, grads, rng)


@no(2)
def bound_by_entries(grads, rng):
    total, bound = np.zeros(grads.shape[1]), 1.0
    for g in grads:
        n = np.linalg.norm(g)
        total += g * min(1.0, bound / max(n, 1e-9))
        bound = max(bound, n)
    return release(total, grads, rng)


@no(2)
def bound_shrinks(grads, rng):
    total, bound = np.zeros(grads.shape[1]), 8.0
    for g in grads:
        n = np.linalg.norm(g)
        total += g * min(1.0, bound / max(n, 1e-9))
        if n > bound:
            bound = bound / 2
    return release(total, grads, rng)


@no()
def largest_norm(grads, rng):
    top = np.max(np.linalg.norm(grads, axis=1))
    return release((grads / np.maximum(top, np.linalg.norm(grads, axis=1))[:, None] * top).sum(axis=0), grads, rng)


@no()
def mean_norm(grads, rng):
    norms = np.linalg.norm(grads, axis=1)
    bound = norms.mean()
    return release((grads * np.minimum(1.0, bound / (norms + 1e-6))[:, None]).sum(axis=0), grads, rng)


@no()
def noisy_bound(grads, rng):
    norms = np.linalg.norm(grads, axis=1)
    bound = abs(np.minimum(norms, 1.0).sum() + rng.normal(0, 4.0))
    return release((grads * np.minimum(1.0, bound / (norms + 1e-6))[:, None]).sum(axis=0), grads, rng)


@no()
def noisy_bound_alone(grads, rng):
    bound = abs(rng.normal(0, 4.0))
    total = np.zeros(grads.shape[1])
    for g in grads:
        total += g * min(1.0, bound / max(np.linalg.norm(g), 1e-9))
    return release(total, grads, rng)


@no()
def noise_scaled_by_noise(grads, rng):
    bound = abs(rng.normal(0, 4.0))
    total = np.zeros(grads.shape[1])
    for g in grads:
        total += unit(g)
    return total + bound * rng.normal(0, 4.0, size=grads.shape[1])


@no()
def noise_scaled_by_data(grads, rng):
    total = np.zeros(grads.shape[1])
    size = 0.0
    for g in grads:
        total += unit(g)
        size += min(1.0, np.linalg.norm(g))
    return total + size * rng.normal(0, 4.0, size=grads.shape[1])


@no()
def noise_shrunk_by_norm(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        total += unit(g)
    return total + rng.normal(0, 4.0, size=grads.shape[1]) / max(1.0, np.linalg.norm(total))


@no(0.2)
def norm_clip_of_sum(grads, rng):
    total = grads.sum(axis=0)
    total = total * 2.0 / max(1.0, np.linalg.norm(total))
    return release(total, grads, rng)


@no(0.12)
def norm_of_sum(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        total = total + g
    return release(total / max(1.0, np.linalg.norm(total)), grads, rng)


@no()
def branch_on_noise_then_raw(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        total += unit(g)
    if rng.normal(0, 4.0) > 0:
        return total
    return release(total, grads, rng)


@no()
def branch_on_noisy_count_then_raw(grads, rng):
    total, count = np.zeros(grads.shape[1]), 0.0
    for g in grads:
        total += unit(g)
        count += min(1.0, np.linalg.norm(g))
    if count + rng.normal(0, 4.0) > 100:
        return total
    return np.zeros(grads.shape[1])


@no()
def total_by_noisy_count(grads, rng):
    total, count = np.zeros(grads.shape[1]), 0.0
    for g in grads:
        total += unit(g)
        count += min(1.0, np.linalg.norm(g))
    return total / max(1.0, count + rng.normal(0, 4.0))


@no()
def times_noise(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        total += unit(g)
    return total * rng.normal(0, 4.0)


@no(relation="add-remove")
def mean_by_len(grads, rng):
    return (units(grads).sum(axis=0) + rng.normal(0, 4.0, size=grads.shape[1])) / len(grads)


@no(relation="add-remove")
def mean_by_shape(grads, rng):
    n, d = grads.shape
    return (units(grads).sum(axis=0) + rng.normal(0, 4.0, size=d)) / n


@no(relation="add-remove")
def mean_axis(grads, rng):
    return units(grads).mean(axis=0) + rng.normal(0, 4.0, size=grads.shape[1])


@no(relation="add-remove")
def scale_by_len(grads, rng):
    return units(grads).mean(axis=0) + rng.normal(0, 4.0 / len(grads), size=grads.shape[1])


@no(relation="add-remove")
def length_released(grads, rng):
    return grads.shape[0]


@no(relation="add-remove")
def every_row_noisy(grads, rng):
    return units(grads) + rng.normal(0, 4.0, size=grads.shape)


@no(0.124)
def mean_replace(grads, rng):
    return units(grads).mean(axis=0) + rng.normal(0, 4.0 / len(grads), size=grads.shape[1])


@no(0.49)
def mean_replace_half(grads, rng):
    return units(grads).mean(axis=0) + rng.normal(0, 2.0 / len(grads), size=grads.shape[1])


@no(0.124)
def mean_scale_constant(grads, rng):  # for 1 record it is 2/4
    return units(grads).mean(axis=0) + rng.normal(0, 4.0, size=grads.shape[1])


@no(1 / 32)
def replace_moves_twice(grads, rng):
    return release(units(grads).sum(axis=0), grads, rng)


@no(1.0)
def divided_noise_by_len(grads, rng):
    return units(grads).sum(axis=0) + rng.normal(0, 4.0, size=grads.shape[1]) / len(grads) / len(grads) * 0.25


@no(0.1)
def sampled_inside(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        if rng.random() < 0.1:
            total += unit(g)
    return release(total, grads, rng)


@no()
def argmax_of_norms(grads, rng):
    return int(np.argmax(np.linalg.norm(grads, axis=1)))


@no()
def largest_record(grads, rng):
    return release(grads[np.argmax(np.linalg.norm(grads, axis=1))], grads, rng)


@no()
def by_max_key(grads, rng):
    return release(max(grads, key=np.linalg.norm), grads, rng)


@no()
def sorted_norms(grads, rng):
    return sorted(np.linalg.norm(g) for g in grads)


@no()
def gaussian_branch(grads, rng):
    total, noise = np.zeros(grads.shape[1]), rng.normal(0, 4.0, size=grads.shape[1])
    for g in grads:
        total += unit(g)
    if rng.normal(0, 1.0) > 0:
        return total + noise
    return total - noise, noise


@no()
def both_signs(grads, rng):
    total, noise = np.zeros(grads.shape[1]), rng.normal(0, 4.0, size=grads.shape[1])
    for g in grads:
        total += unit(g)
    return total + noise, total - noise


@no()
def noise_released(grads, rng):
    total, noise = np.zeros(grads.shape[1]), rng.normal(0, 4.0, size=grads.shape[1])
    for g in grads:
        total += unit(g)
    return total + noise, noise


@no()
def noise_norm_released(grads, rng):
    total, noise = np.zeros(grads.shape[1]), rng.normal(0, 4.0, size=grads.shape[1])
    for g in grads:
        total += unit(g)
    return total + noise, np.linalg.norm(noise)


@no()
def noise_direction(grads, rng):
    total, noise = np.zeros(grads.shape[1]), rng.normal(0, 4.0, size=grads.shape[1])
    for g in grads:
        total += unit(g)
    return total + noise / max(1.0, np.linalg.norm(noise))


@no()
def noise_clipped(grads, rng):
    total, noise = np.zeros(grads.shape[1]), rng.normal(0, 4.0, size=grads.shape[1])
    for g in grads:
        total += unit(g)
    if np.linalg.norm(noise) > 4:
        noise = noise * 0.0
    return total + noise


@no(0.24)
def two_sums(grads, rng):
    a = release(units(grads).sum(axis=0), grads, rng)
    return a, release(units(grads).sum(axis=0), grads, rng)


@no(0.2)
def same_noise_two_sums(grads, rng):
    noise = rng.normal(0, 4.0, size=grads.shape[1])
    total, other = np.zeros(grads.shape[1]), np.zeros(grads.shape[1])
    for g in grads:
        total += unit(g)
        other += unit(g - g * 0.5)
    return total + noise, other + noise


@no()
def squares_sum(grads, rng):
    return (grads[0] ** 2).sum()


@no()
def squares_released(grads, rng):
    return grads[0] ** 2


@no()
def squares_all(grads, rng):
    return (grads**2).sum(axis=1)


@no()
def squares_noisy(grads, rng):
    return (grads[0] ** 2).sum() + rng.normal(0, 4.0)


@no()
def rounded(grads, rng):
    return release(np.round(units(grads)).sum(axis=0), grads, rng)


@no()
def integers(grads, rng):
    return release(units(grads).astype(int).sum(axis=0), grads, rng)


@no()
def integers_first(grads, rng):
    return release(units(np.array(grads, dtype=int)).sum(axis=0), grads, rng)


@no(0.2)
def alias_two_names(grads, rng):
    a = b = np.zeros(grads.shape[1])
    for g in grads:
        a += unit(g)
        b += unit(g)
    return release(a, grads, rng)


@no(0.2)
def alias_list(grads, rng):
    acc = [np.zeros(grads.shape[1])] * 2
    for g in grads:
        acc[0] += unit(g)
        acc[1] += unit(g)
    return release(acc[0], grads, rng)


@no(0.2)
def alias_asarray(grads, rng):
    a = np.zeros(grads.shape[1])
    b = np.asarray(a)
    for g in grads:
        a += unit(g)
        b += unit(g)
    return release(b, grads, rng)


@no(0.2)
def alias_kept(grads, rng):
    kept = [unit(g) for g in grads]
    first = kept[0]
    first += first
    first *= 3.0
    return release(sum(kept), grads, rng)


@no()
def alias_row(grads, rng):
    row = grads[0]
    row *= 100.0
    return release(units(grads).sum(axis=0), grads, rng)


@no(0.2)
def alias_of_one_record(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        h = unit(g)
        k = h
        k *= 3.0
        total += h
    return release(total, grads, rng)


@no()
def in_place_data(grads, rng):
    norms = np.linalg.norm(grads, axis=1)
    grads *= 10.0
    return release((grads / np.maximum(1.0, norms)[:, None]).sum(axis=0), grads, rng)


@no(0.2)
def in_place_data_alias(grads, rng):
    kept = units(grads)
    kept *= 3.0
    return release(kept.sum(axis=0), grads, rng)


@no(0.2)
def in_place_column(grads, rng):
    kept = grads / np.maximum(1.0, np.linalg.norm(grads, axis=1))[:, None]
    kept *= 3.0
    return release(kept.sum(axis=0), grads, rng)


@no()
def norms_in_place(grads, rng):
    norms = np.linalg.norm(grads, axis=1)
    norms[:] = 1.0
    return release((grads / np.maximum(1.0, norms)[:, None]).sum(axis=0), grads, rng)


@no()
def norms_in_place_2(grads, rng):
    norms = np.linalg.norm(grads, axis=1)
    norms *= 0.0
    return release((grads / np.maximum(1.0, norms)[:, None]).sum(axis=0), grads, rng)


@no()
def norms_in_place_loop(grads, rng):
    norms = [np.linalg.norm(g) for g in grads]
    norms[0] = 1.0
    total = np.zeros(grads.shape[1])
    for i, g in enumerate(grads):
        total += g / max(1.0, norms[i])
    return release(total, grads, rng)


@no()
def norms_reversed(grads, rng):
    norms = np.linalg.norm(grads, axis=1)
    return release((grads / np.maximum(1.0, norms[::-1])[:, None]).sum(axis=0), grads, rng)


@no()
def norms_of_reversed(grads, rng):
    norms = np.linalg.norm(grads[::-1], axis=1)
    return release((grads / np.maximum(1.0, norms)[:, None]).sum(axis=0), grads, rng)


@no()
def norms_of_half(grads, rng):
    half = grads * 0.01
    norms = np.linalg.norm(half, axis=1)
    return release((grads / np.maximum(1.0, norms)[:, None]).sum(axis=0), grads, rng, 0.5)


@no()
def norms_of_first_row(grads, rng):
    norms = np.linalg.norm(grads - grads[0], axis=1)
    return release((grads / np.maximum(1.0, norms)[:, None]).sum(axis=0), grads, rng)


@no()
def iterate_entries(grads, rng):
    total = 0.0
    for v in grads[0]:
        total += min(1.0, max(-1.0, v))
    return total + rng.normal(0, 4.0)


@no()
def unpacked(grads, rng):
    (v,) = grads[0]
    return min(1.0, v) + rng.normal(0, 4.0)


@no()
def scale_by_columns(grads, rng):
    return units(grads).sum(axis=0) + rng.normal(0, 4.0 / grads.shape[1], size=grads.shape[1])


@no()
def bound_by_columns(grads, rng):
    return release(
        (grads / np.maximum(1.0, np.linalg.norm(grads, axis=1) / grads.shape[1])[:, None]).sum(axis=0), grads, rng
    )


@no()
def bound_by_root_columns(grads, rng):
    c = np.sqrt(grads.shape[1])
    return release((grads / np.maximum(1.0, np.linalg.norm(grads, axis=1) / c)[:, None]).sum(axis=0), grads, rng)


@no()
def for_every_column(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        total += unit(g)
    out = []
    for _ in range(grads.shape[1]):
        out.append(total + rng.normal(0, 4.0, size=grads.shape[1]))
    return out


@no()
def noise_per_row_shape(grads, rng):
    return units(grads).sum(axis=0) + rng.normal(0, 4.0, size=(len(grads), 1))


@no()
def noise_one_by_one(grads, rng):
    return units(grads).sum(axis=0) + rng.normal(0, 4.0, size=(1, 1))


@no()
def noise_row_for_all(grads, rng):
    return units(grads) + rng.normal(0, 4.0, size=grads.shape[1])


@no()
def noise_row_for_all_2(grads, rng):
    return units(grads) + rng.normal(0, 4.0, size=(1, grads.shape[1]))


@no()
def noise_column(grads, rng):
    return units(grads) + rng.normal(0, 4.0, size=(len(grads), 1))


@no()
def noise_scalar_loc(grads, rng):
    return units(grads).sum(axis=0) + rng.normal(0, 4.0) * np.ones(grads.shape[1])


@no()
def noise_zero_scale(grads, rng):
    return release(units(grads).sum(axis=0), grads, rng, 0.0)


@no()
def noise_negative_scale(grads, rng):
    return release(units(grads).sum(axis=0), grads, rng, -4.0)


@no(0.124)
def filtered(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        if np.linalg.norm(g) < 1:
            total += g
    return release(total, grads, rng)


@no()
def filtered_wrong(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        if np.linalg.norm(g) > 1:
            total += g
    return release(total, grads, rng)


@no(0.124)
def where_zero(grads, rng):
    norms = np.linalg.norm(grads, axis=1, keepdims=True)
    return release((np.where(norms > C, 0.0, 1.0) * grads).sum(axis=0), grads, rng)


@no()
def where_swapped(grads, rng):
    norms = np.linalg.norm(grads, axis=1, keepdims=True)
    return release((np.where(norms > C, 1.0, C / norms) * grads).sum(axis=0), grads, rng)


@no()
def np_clip_swapped(grads, rng):
    norms = np.linalg.norm(grads, axis=1)
    return release((grads / np.clip(norms, 0.5, 1.0)[:, None]).sum(axis=0), grads, rng)


@no(0.4)
def np_clip_low(grads, rng):
    norms = np.linalg.norm(grads, axis=1)
    return release((grads / np.clip(norms, 1.0, 100.0)[:, None]).sum(axis=0), grads, rng)


@no()
def negative_bound(grads, rng):
    return release((grads / np.maximum(1.0, np.linalg.norm(grads, axis=1) / -1.0)[:, None]).sum(axis=0), grads, rng)


@no(0.12)
def negative_factor(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        total += g * min(1.0, -1.0 / max(np.linalg.norm(g), 1e-9))
    return release(total, grads, rng)


@no()
def negative_factor_2(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        total += g * min(-1.0, 1.0 / max(np.linalg.norm(g), 1e-9))
    return release(total, grads, rng)


@no()
def rooted(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        total += g * math.sqrt(min(1.0, 1.0 / max(np.linalg.norm(g), 1e-9)))
    return release(total, grads, rng)


@no()
def rooted_norm(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        total += g / max(1.0, math.sqrt(np.linalg.norm(g)))
    return release(total, grads, rng)


@no(12)
def shifted_norm(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        total += g / (1.0 + 0.1 * np.linalg.norm(g))
    return release(total, grads, rng)  # up to 10: 20^2/32 = 12.5


@no(0.49)
def half_and_half(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        total += g / (0.5 + 0.5 * np.linalg.norm(g))
    return release(total, grads, rng)


@no()
def norm_less_one(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        total += g / max(0.5, 2.0 - np.linalg.norm(g))
    return release(total, grads, rng)


@no()
def difference_of_norms(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        n = np.linalg.norm(g)
        total += g / max(1.0, 2.0 * n - 2.0 * max(n, 1.0))
    return release(total, grads, rng)


@no()
def norm_of_half_powers(grads, rng):
    return release((grads / np.maximum(1.0, np.linalg.norm(grads, 0.5, axis=1))[:, None]).sum(axis=0), grads, rng)


@no()
def norm_zero(grads, rng):
    return release((grads / np.maximum(1.0, np.linalg.norm(grads, 0, axis=1))[:, None]).sum(axis=0), grads, rng)


@no()
def norm_minus(grads, rng):
    return release((grads / np.maximum(1.0, np.linalg.norm(grads, -1, axis=1))[:, None]).sum(axis=0), grads, rng)


@no(0.11)
def momentum(grads, rng):
    m = np.zeros(grads.shape[1])
    for g in grads:
        m = 0.9 * m + unit(g)
    return release(m, grads, rng)


@no(0.12)
def momentum_growing(grads, rng):
    m = np.zeros(grads.shape[1])
    for g in grads:
        m = 1.5 * m + unit(g)
    return release(m, grads, rng)


@no(0.12)
def momentum_itself(grads, rng):
    m = np.zeros(grads.shape[1])
    for g in grads:
        m = m + m + unit(g)
    return release(m, grads, rng)


@no(0.12)
def prefix_sums(grads, rng):
    m, out = np.zeros(grads.shape[1]), []
    for g in grads:
        m = m + unit(g)
        out.append(m + rng.normal(0, 4.0, size=grads.shape[1]))
    return out


@no(0.12)
def clipped_state(grads, rng):
    m = np.zeros(grads.shape[1])
    for g in grads:
        m = m + g
        m = m / max(1.0, np.linalg.norm(m))
    return release(m, grads, rng)


@no(0.03)
def sum_of_norms(grads, rng):
    return sum(min(1.0, np.linalg.norm(g)) for g in grads) + rng.normal(0, 4.0)


@no()
def sum_of_norms_unclipped(grads, rng):
    return sum(np.linalg.norm(g) for g in grads) + rng.normal(0, 4.0)


@no()
def record_times_norm(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        total += unit(g) * np.linalg.norm(g)
    return release(total, grads, rng)


@no()
def by_the_next(grads, rng):
    total, last = np.zeros(grads.shape[1]), np.zeros(grads.shape[1])
    for g in grads:
        total += last / max(1.0, np.linalg.norm(g))
        last = g
    return release(total, grads, rng)


@no()
def state_norm(grads, rng):
    total, last = np.zeros(grads.shape[1]), 1.0
    for g in grads:
        total += g * min(1.0, last / max(np.linalg.norm(g), 1e-9))
        last = max(last, np.linalg.norm(total))
    return release(total, grads, rng)


@no()
def columns_only(grads, rng):
    grads = grads[:, :1]
    return release(units(grads).sum(axis=0), grads, rng)


@no()
def transposed(grads, rng):
    grads = grads.T
    return release((grads / np.maximum(1.0, np.linalg.norm(grads, axis=1))[:, None]).sum(axis=0), grads, rng)


@no()
def shadowed(grads, rng):
    d = (lambda grads: grads.shape[1])(grads[:, :1])
    return units(grads).sum(axis=0) + rng.normal(0, 4.0, size=d)


@no()
def made_names(grads, rng):
    _dpcert_sum1 = grads.sum(axis=0)
    total = units(grads).sum(axis=0)
    return release(total, grads, rng), _dpcert_sum1


@no()
def keeps_state(grads, rng):
    ACC.append(1)
    if len(ACC) > 1000:
        return grads.sum(axis=0)
    return release(units(grads).sum(axis=0), grads, rng)


@no()
def keeps_state_in_object(grads, rng):
    HOLD.n += 1
    if HOLD.n > 1000:
        return grads.sum(axis=0)
    return release(units(grads).sum(axis=0), grads, rng)


@no()
def default_state(grads, rng, acc=np.zeros(2)):
    acc += 1.0
    return release(units(grads).sum(axis=0) * acc[0], grads, rng)


@no()
def global_rng(grads, rng):
    return units(grads).sum(axis=0) + np.random.normal(0, 4.0, size=grads.shape[1])


@no()
def records_compared(grads, rng):
    return int((grads[0] == grads[1]).all()) if len(grads) > 1 else 0


@no()
def records_in(grads, rng):
    return grads[0] in [grads[-1]]


@no()
def text_of_record(grads, rng):
    return f"{grads[0]}"


@no()
def norm_text(grads, rng):
    return str(np.linalg.norm(grads[0]))


@no()
def dict_of_records(grads, rng):
    return {"a": grads[0]}


@no()
def zero_test(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        if np.linalg.norm(g) == 0:
            return total
        total += unit(g)
    return release(total, grads, rng)


@no()
def zero_test_noise(grads, rng):
    scale = 4.0
    total = np.zeros(grads.shape[1])
    for g in grads:
        if np.linalg.norm(g) > 5:
            scale = 8.0
        total += unit(g)
    return total + rng.normal(0, scale, size=grads.shape[1])


@no(0.12)
def norm1_loose(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        total += g / max(1.0, np.linalg.norm(g, 1))
    return release(total, grads, rng)


@no(0.2)
def mixed_norms(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        total += g * min(2.0, 2.0 / max(np.linalg.norm(g), 1e-9, np.linalg.norm(g, 1) * 0.0))
    return release(total, grads, rng)


@no()
def norm2_for_1_swapped(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        total += g * np.linalg.norm(g, 1) / max(1.0, np.linalg.norm(g))
    return release(total, grads, rng)


@no(0.2)
def ratio_of_norms(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        total += g * (np.linalg.norm(g, 1) / max(1.0, np.linalg.norm(g))) / max(1.0, np.linalg.norm(g))
    return release(total, grads, rng)


@no(0.12, relation="add-remove")
def pairs_of_records(grads, rng):
    total, last = np.zeros(grads.shape[1]), np.zeros(grads.shape[1])
    for g in grads:
        total += unit(g - last)
        last = g
    return release(total, grads, rng)


@no(0.03, relation="add-remove")
def added_moves_one(grads, rng):
    return release(units(grads).sum(axis=0), grads, rng)


@no(0.1, relation="add-remove")
def sum_and_count(grads, rng):
    total, count = np.zeros(grads.shape[1]), 0
    for g in grads:
        total += unit(g)
        count += 1
    return release(total, grads, rng), count + rng.normal(0, 2.0)  # 1/32 + 1/8


@no(relation="add-remove")
def sum_and_true_count(grads, rng):
    total, count = np.zeros(grads.shape[1]), 0
    for g in grads:
        total += unit(g)
        count += 1
    return release(total, grads, rng) / max(1, count)


# epsilon, Laplace
def eps(epsilon, **o):
    def put(f):
        ATTACKS.append((f, dict(epsilon=epsilon, container="rows") | o))
        return f

    return put


def unit1(g):
    return g / max(1.0, np.linalg.norm(g, 1))


@eps(50)
def laplace_l2(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        total += unit(g)
    return total + rng.laplace(0, 4.0, size=grads.shape[1])


@eps(50)
def laplace_root_of_squares(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        total += g / max(1.0, np.sqrt((g**2).sum()))
    return total + rng.laplace(0, 4.0, size=grads.shape[1])


@eps(50)
def laplace_one_for_all(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        total += unit1(g)
    return total + rng.laplace(0, 4.0)


@eps(0.49)
def laplace_less(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        total += unit1(g)
    return total + rng.laplace(0, 4.0, size=grads.shape[1])


@eps(50)
def gaussian_pure(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        total += unit1(g)
    return total + rng.normal(0, 4.0, size=grads.shape[1])


@eps(50)
def exponential_vector(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        total += unit1(g)
    return total + rng.exponential(4.0, size=grads.shape[1])


@eps(0.49)
def laplace_branch(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        total += unit1(g)
    noisy = total + rng.laplace(0, 4.0, size=grads.shape[1])
    if np.linalg.norm(noisy, 1) > 3:
        return noisy
    return noisy, total * 0.0


@eps(50)
def laplace_branch_raw(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        total += unit1(g)
    noisy = total + rng.laplace(0, 4.0, size=grads.shape[1])
    if np.linalg.norm(noisy, 1) > 3:
        return noisy
    return total


ATTACKS.append((two_sums, dict(mu=0.49 * math.sqrt(2), container="rows")))
ATTACKS.append((laplace_less, dict(mu=20.0, container="rows")))
ATTACKS.append((laplace_less, dict(rho=20.0, container="rows")))


# shapes, names and the cut
@no(50)
def same_name_in_comprehension(grads, rng):
    total = np.sum([grads for grads in grads], axis=0)
    return total + rng.normal(0, 4.0, size=grads.shape[1])


@no(50)
def rebinding(grads, rng):
    n = np.linalg.norm(grads, axis=1)
    grads = grads * 2.0
    grads = grads * 100.0
    return (grads / np.maximum(1.0, n)[:, None]).sum(axis=0) + rng.normal(0, 4.0, size=grads.shape[1])


@no(0.12)
def norm_of_the_old(grads, rng):
    n = np.linalg.norm(grads, axis=1)
    g2 = grads * 2.0
    return (g2 / np.maximum(1.0, n)[:, None]).sum(axis=0) + rng.normal(0, 4.0, size=grads.shape[1])


@no(50)
def keepdims_axis0(grads, rng):
    n = np.linalg.norm(grads, axis=0, keepdims=True)
    return (grads / np.maximum(1.0, n)).sum(axis=0) + rng.normal(0, 4.0, size=grads.shape[1])


@no(50)
def no_column(grads, rng):
    n = np.linalg.norm(grads, axis=1)
    total = (grads / np.maximum(1.0, n)).sum(axis=0)
    return total + rng.normal(0, 4.0, size=total.shape)


@no(50)
def wrong_row(grads, rng):
    n = np.linalg.norm(grads, axis=1)
    total = (grads / np.maximum(1.0, n)[None, :]).sum(axis=0)
    return total + rng.normal(0, 4.0, size=total.shape)


@no(50)
def reshaped_row(grads, rng):
    n = np.linalg.norm(grads, axis=1)
    total = (grads / np.maximum(1.0, n).reshape(1, -1)).sum(axis=0)
    return total + rng.normal(0, 4.0, size=total.shape)


@no(50)
def squares_axis0(grads, rng):
    n = np.sqrt((grads**2).sum(axis=0))
    total = (grads / np.maximum(1.0, n)).sum(axis=0)
    return total + rng.normal(0, 4.0, size=total.shape)


@no(50)
def root_of_shifted_squares(grads, rng):
    n = np.sqrt((grads**2).sum(axis=1) - 100.0)
    total = (grads / np.maximum(1.0, n)[:, None]).sum(axis=0)
    return total + rng.normal(0, 4.0, size=total.shape)


@no(50)
def mean_of_squares(grads, rng):
    n = np.sqrt((grads**2).mean(axis=1))
    total = (grads / np.maximum(1.0, n)[:, None]).sum(axis=0)
    return total + rng.normal(0, 4.0, size=total.shape)


@no(50)
def squares_not_rooted(grads, rng):
    n = (grads**2).sum(axis=1)
    total = (grads * np.minimum(1.0, 1.0 / (n + 1e-6))[:, None]).sum(axis=0)
    return total + rng.normal(0, 0.01, size=total.shape)


@no(50)
def absolute_sum(grads, rng):
    n = np.abs(grads).sum(axis=1)
    total = (grads / np.maximum(1.0, n * 0.0)[:, None]).sum(axis=0)
    return total + rng.normal(0, 4.0, size=total.shape)


@no(50)
def max_of_abs(grads, rng):
    n = np.abs(grads).max(axis=1)
    total = (grads / np.maximum(1.0, n)[:, None]).sum(axis=0)
    return total + rng.normal(0, 4.0, size=total.shape)


@no(50)
def cumulated(grads, rng):
    total = np.cumsum(grads / np.maximum(1.0, np.linalg.norm(grads, axis=1))[:, None], axis=0)
    return total + rng.normal(0, 4.0, size=total.shape)


@no(50)
def mean_of_all(grads, rng):
    total = (grads / np.maximum(1.0, np.linalg.norm(grads, axis=1))[:, None]).mean()
    return total + rng.normal(0, 4.0)


@no(50)
def sum_axis_minus(grads, rng):
    total = (grads / np.maximum(1.0, np.linalg.norm(grads, axis=1))[:, None]).sum(axis=-1)
    return total + rng.normal(0, 4.0, size=len(grads))


@no(50)
def noise_in_each_step_shared(grads, rng):
    noise = rng.normal(0, 4.0, size=grads.shape[1])
    return [g / max(1.0, np.linalg.norm(g)) + noise for g in grads], [noise * 2.0 for g in grads]


@no(0.12)
def noise_shared_rows(grads, rng):
    noise = rng.normal(0, 4.0, size=grads.shape[1])
    return [g / max(1.0, np.linalg.norm(g)) + noise for g in grads]


@no(0.12)
def noise_averaged(grads, rng):
    kept = [g / max(1.0, np.linalg.norm(g)) + rng.normal(0, 1.0, size=len(g)) for g in grads]
    return sum(kept)


@no(0.1, relation="add-remove")
def noise_by_each(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        total += g / max(1.0, np.linalg.norm(g)) + rng.normal(0, 4.0, size=len(g))
    return total


@no(50)
def early_return(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        if np.linalg.norm(g) > 1:
            return total + rng.normal(0, 4.0, size=len(g))
        total += g
    return total * 0.0


@no(0.12)
def stops_early(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        if np.linalg.norm(g) > 1:
            break
        total += g
    return total + rng.normal(0, 4.0, size=grads.shape[1])


@no(0.12)
def resets(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        if np.linalg.norm(g) > 1:
            total = np.zeros(grads.shape[1])
        else:
            total = total + g
    return total + rng.normal(0, 4.0, size=grads.shape[1])


@no(0.12)
def flips(grads, rng):
    total, sign = np.zeros(grads.shape[1]), 1.0
    for g in grads:
        total += sign * (g / max(1.0, np.linalg.norm(g)))
        if np.linalg.norm(g) > 1:
            sign = -sign
    return total + rng.normal(0, 4.0, size=grads.shape[1])


@no(0.12)
def flips_by_noise(grads, rng):
    total, sign = np.zeros(grads.shape[1]), 1.0
    for g in grads:
        total += sign * (g / max(1.0, np.linalg.norm(g)))
        if rng.normal(0, 1.0) > 0:
            sign = 3.0
    return total + rng.normal(0, 4.0, size=grads.shape[1])


@no(0.12)
def two_loops(grads, rng):
    total, other = np.zeros(grads.shape[1]), np.zeros(grads.shape[1])
    for g in grads:
        total += g / max(1.0, np.linalg.norm(g))
    for g in grads:
        other += g / max(1.0, np.linalg.norm(g))
    return total + other + rng.normal(0, 4.0, size=grads.shape[1])


@no(0.2)
def second_loop_centred(grads, rng):
    total, other = np.zeros(grads.shape[1]), np.zeros(grads.shape[1])
    for g in grads:
        total += g / max(1.0, np.linalg.norm(g))
    for g in grads:
        h = g - total
        other += h / max(1.0, np.linalg.norm(h))
    return other + rng.normal(0, 4.0, size=grads.shape[1])


@no(0.2)
def centred_by_noisy(grads, rng):
    total, other = np.zeros(grads.shape[1]), np.zeros(grads.shape[1])
    for g in grads:
        total += g / max(1.0, np.linalg.norm(g))
    noisy = total + rng.normal(0, 4.0, size=grads.shape[1])
    for g in grads:
        h = g - noisy
        other += h / max(1.0, np.linalg.norm(h))
    return other + rng.normal(0, 4.0, size=grads.shape[1])  # .25 in all


@no(50)
def noisy_norm_decides(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        total += g / max(1.0, np.linalg.norm(g))
    if np.linalg.norm(total) + rng.normal(0, 4.0) > 3:
        return total
    return total * 0.0


@no(0.2)
def sparse_vector_by_norms(grads, rng):
    bound, out = rng.normal(0, 4.0), []
    for g in grads:
        out.append(bool(min(1.0, np.linalg.norm(g)) > bound))
    return out


@no(50)
def indexed(grads, rng):
    total = np.zeros(grads.shape[1])
    for i in range(len(grads)):
        total += grads[i] / max(1.0, np.linalg.norm(grads[0]))
    return total + rng.normal(0, 4.0, size=grads.shape[1])


@no(50)
def indexed_before(grads, rng):
    total = np.zeros(grads.shape[1])
    for i in range(len(grads)):
        total += grads[i] / max(1.0, np.linalg.norm(grads[i - 1]))
    return total + rng.normal(0, 4.0, size=grads.shape[1])


@no(50)
def weights_by_place(grads, rng):
    total = np.zeros(grads.shape[1])
    for i, g in enumerate(grads):
        total += g * (i + 1.0) / max(1.0, np.linalg.norm(g))
    return total + rng.normal(0, 0.1, size=grads.shape[1])


@no(50)
def zeros_like_row(grads, rng):
    total = np.zeros_like(grads[0])
    for g in grads:
        total += g
    return total + rng.normal(0, 4.0, size=grads.shape[1])


@no(50)
def norms_matrix(grads, rng):
    return np.linalg.norm(grads) + rng.normal(0, 4.0)


@no(50)
def stacked(grads, rng):
    both = np.concatenate([grads, grads * 100.0])
    n = np.linalg.norm(np.concatenate([grads, grads]), axis=1)
    return (both / np.maximum(1.0, n)[:, None]).sum(axis=0) + rng.normal(0, 4.0, size=grads.shape[1])


GROWING = [momentum_growing, momentum_itself, prefix_sums, bound_grows, flips, flips_by_noise, second_loop_centred]


def growing(function):
    GROWING.append(function)
    return function


@growing
def alternating(grads, rng):
    total = np.zeros(grads.shape[1])
    for g in grads:
        total = g / max(1.0, np.linalg.norm(g)) - total - total
    return total + rng.normal(0, 4.0, size=grads.shape[1])


@growing
def each_noisy_total(grads, rng):
    total, out = np.zeros(grads.shape[1]), []
    for g in grads:
        total += g / max(1.0, np.linalg.norm(g))
        out.append(total + rng.normal(0, 4.0, size=grads.shape[1]))
        total = total * 1.0
    return out


@growing
def until_noise(grads, rng):
    total, out = np.zeros(grads.shape[1]), []
    for g in grads:
        total += g / max(1.0, np.linalg.norm(g))
        y = total + rng.normal(0, 4.0, size=grads.shape[1])
        out.append(y)
        if np.linalg.norm(y) > 1:
            break
    return out


@growing
def counted(grads, rng):
    total, k = np.zeros(grads.shape[1]), 0
    for g in grads:
        k += 1
        total += g * min(1.0, k / max(np.linalg.norm(g), 1e-9))
    return total + rng.normal(0, 4.0, size=grads.shape[1])


@growing
def flips_late(grads, rng):
    total, sign = np.zeros(grads.shape[1]), 1.0
    for g in grads:
        if np.linalg.norm(g) > 1:
            sign = 2.0
        total += sign * (g / max(1.0, np.linalg.norm(g)))
    return total + rng.normal(0, 4.0, size=grads.shape[1])


@growing
def last_norm(grads, rng):
    total, last = np.zeros(grads.shape[1]), 1.0
    for g in grads:
        total += g * min(1.0, 1.0 / max(np.linalg.norm(g), 1e-9)) * last
        last = 2.0 if np.linalg.norm(g) > 1 else last
    return total + rng.normal(0, 4.0, size=grads.shape[1])
