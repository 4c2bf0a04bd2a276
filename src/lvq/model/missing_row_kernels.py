"""Compiled loops for predictions of samples with missing values, row by row; `missing_prediction.py` explains them.

Arrays are indexed as a whole: a view of a row takes as long as some ten products. The file calls no compiled code of
others, whose changes numba's cache on disk would not notice.
"""

import numba
import numpy as np

from lvq.typing import Argument

_options: dict[str, Argument] = {"nogil": True, "error_model": "numpy", "fastmath": {"contract", "reassoc", "nsz"}}
_jit = numba.njit(**_options, cache=True)
_inlined = numba.njit(**_options, forceinline=True)


@_inlined
def _read(X, i, centre, x, mask):
    """Write the values of a row relative to a centre, 0 where they are missing, and its mask; return its sum."""
    n, seen = X.shape[1], 0.0
    for p in range(n):
        value = X[i, p] - centre[p]
        x[p] = value if value == value else 0.0
    for p in range(n):
        mask[p] = 1.0 if X[i, p] == X[i, p] else 0.0
    for p in range(n):
        seen += mask[p]
    return seen


@_inlined
def _fractions(mask, seen, feature_fractions, fraction):
    """Write the observed fraction of each metric; 1 where it would be 0 or all is seen."""
    n = mask.shape[0]
    for k in range(feature_fractions.shape[0]):
        s = 0.0
        for p in range(n):
            s += mask[p] * feature_fractions[k, p]
        fraction[k] = s if seen < n and s > 0 else 1.0


@_jit
def distances_by_weights(group, feature_fractions, weights, W, X, centre, D, complete):
    """Write the distances sum_l lambda_l e_l^2/s, and which rows are complete; count these."""
    n, whole = X.shape[1], 0
    x, mask, fraction = np.empty(n), np.empty(n), np.empty(len(feature_fractions))
    for i in range(X.shape[0]):
        seen = _read(X, i, centre, x, mask)
        complete[i] = seen == n
        whole += complete[i]
        _fractions(mask, seen, feature_fractions, fraction)
        for j in range(D.shape[1]):
            k, square = group[j], 0.0
            for p in range(n):
                e = x[p] - mask[p] * W[j, p]
                square += weights[k, p] * e * e
            D[i, j] = square / fraction[k]
    return whole


@_jit
def distances_by_matrices(group, feature_fractions, omega, W, X, centre, D, complete):
    """Write the distances |Omega e|^2/s of incomplete rows, and which rows are complete; count these.

    `omega`, (K, m, n), has a multiple of four rows m, those added zero.
    """
    n, whole = X.shape[1], 0
    x, mask, e, fraction = np.empty(n), np.empty(n), np.empty(n), np.empty(len(feature_fractions))
    for i in range(X.shape[0]):
        seen = _read(X, i, centre, x, mask)
        complete[i] = seen == n
        whole += complete[i]
        if seen == n:
            continue
        _fractions(mask, seen, feature_fractions, fraction)
        for j in range(D.shape[1]):
            k, square = group[j], 0.0
            for p in range(n):
                e[p] = x[p] - mask[p] * W[j, p]
            for r in range(0, omega.shape[1], 4):
                one = two = three = four = 0.0
                for p in range(n):
                    one += omega[k, r, p] * e[p]
                    two += omega[k, r + 1, p] * e[p]
                    three += omega[k, r + 2, p] * e[p]
                    four += omega[k, r + 3, p] * e[p]
                square += one * one + two * two + three * three + four * four
            D[i, j] = square / fraction[k]
    return whole


@_jit
def predict_by_missing(sums, starts, deltas, Lambda, X, centre, labels, bound, winner, close):
    """Write the nearest prototype of each row, and whether rounding errors could decide; return whether for any.

    Scores are differences to the first prototype, by a sum over the missing features. `deltas` and `Lambda` have a row
    of zeros behind those of the features.
    """
    n, some = X.shape[1], False
    found, scores = np.empty(n + 4, dtype=np.uintp), np.zeros(labels.shape[0])
    x, mask, f = np.empty(n), np.empty(n), np.empty(n)
    for i in range(X.shape[0]):
        seen = _read(X, i, centre, x, mask)
        count = 0
        for p in range(n):
            found[count] = p
            count += mask[p] == 0
        for behind in range(4):
            found[count + behind] = n
        for j in range(sums.shape[0]):
            score = 0.0
            for p in range(n):
                f[p] = mask[p] * sums[j, p] - 2 * x[p]
            for p in range(n):
                score += starts[j, p] * f[p]
            for place in range(0, count, 4):
                a, b, c, d = found[place], found[place + 1], found[place + 2], found[place + 3]
                of_a, of_b, of_c, of_d = deltas[j, a], deltas[j, b], deltas[j, c], deltas[j, d]
                for p in range(n):
                    pulled = (of_a * Lambda[a, p] + of_b * Lambda[b, p]) + (of_c * Lambda[c, p] + of_d * Lambda[d, p])
                    score -= pulled * f[p]
            scores[j + 1] = score
        close[i] = _decide(i, x, seen, scores, labels, bound, winner)
        some |= close[i]
    return some


@_jit
def predict_by_images(sums, pulled, omega, X, centre, labels, bound, winner, close):
    """The same by images, with few rows of Omega; `pulled`, (M - 1, m, n), is Omega times the differences."""
    n, some = X.shape[1], False
    scores, x, mask, f = np.zeros(labels.shape[0]), np.empty(n), np.empty(n), np.empty(n)
    for i in range(X.shape[0]):
        seen = _read(X, i, centre, x, mask)
        for j in range(sums.shape[0]):
            score = 0.0
            for p in range(n):
                f[p] = mask[p] * sums[j, p] - 2 * x[p]
            for r in range(omega.shape[0]):
                one = other = 0.0
                for p in range(n):
                    one += pulled[j, r, p] * mask[p]
                    other += omega[r, p] * f[p]
                score += one * other
            scores[j + 1] = score
        close[i] = _decide(i, x, seen, scores, labels, bound, winner)
        some |= close[i]
    return some


@_inlined
def _decide(i, x, seen, scores, labels, bound, winner):
    """Write the prototype of the least score; return whether another class is within the bound.

    `bound` holds the factors of a bound of the errors, for rows with missing values and complete ones, what is added to
    |x|, and what is added to the bound.
    """
    best, second, of_best, square = np.inf, np.inf, -1, 0.0
    for j in range(labels.shape[0]):
        if scores[j] < best:
            second = best if labels[j] != of_best else second
            best, of_best, winner[i] = scores[j], labels[j], j
        elif labels[j] != of_best and scores[j] < second:
            second = scores[j]
    for p in range(x.shape[0]):
        square += x[p] * x[p]
    length, factor = np.sqrt(square) + bound[2], bound[0] if seen < x.shape[0] else bound[1]
    return seen == 0 or not second - best > factor * length * length + bound[3]
