"""Compiled loops over samples with missing values; `missing_forms.py` has the formulas and makes the arrays.

X holds packed rows: values, 0 where they are missing, then the mask. `feature_fractions`, of sum one, are those of the
features in the metric. `fraction` is the observed fraction s of each row; -1 stands for a constant 1.
"""

import numba
import numpy as np

_jit = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})


@_jit
def pack(X, centre, rows, complete):
    """Write samples, NaN where values are missing, as packed rows relative to a centre; count the complete ones."""
    whole = 0
    for i in range(X.shape[0]):
        complete[i] = _pack(X[i], centre, rows[i])
        whole += complete[i]
    return whole


@_jit
def _pack(x, centre, row):
    """Write one packed row, by loops that compile without branches; return whether it is complete."""
    n, count = x.shape[0], 0.0
    values, mask = row[:n], row[n:]
    for feature in range(n):
        value = x[feature] - centre[feature]
        values[feature] = value if value == value else 0.0
    for feature in range(n):
        mask[feature] = 1.0 if x[feature] == x[feature] else 0.0
    for feature in range(n):
        count += mask[feature]
    return count == n


@_jit
def nearest_pairs(D, y, labels, own, other, d_plus, d_minus):
    """Write the nearest prototype of the class of each row and the nearest of all others; ties to the lowest index."""
    for i in range(D.shape[0]):
        d_plus[i] = d_minus[i] = np.inf
        own[i] = other[i] = 0
        for j in range(D.shape[1]):
            if labels[j] == y[i]:
                if D[i, j] < d_plus[i]:
                    own[i], d_plus[i] = j, D[i, j]
            elif D[i, j] < d_minus[i]:
                other[i], d_minus[i] = j, D[i, j]


@_jit
def _fraction(mask, feature_fractions):
    """The observed fraction of a row."""
    seen = s = feature_fractions.dtype.type(0)
    for feature in range(feature_fractions.shape[0]):
        s += mask[feature] * feature_fractions[feature]
        seen += mask[feature]
    return s if seen < feature_fractions.shape[0] and s > 0 else feature_fractions.dtype.type(-1)


@_jit
def finish_vectors(X, weights, feature_fractions, D, fraction):
    """Scores become distances: add sum_l m_l lambda_l x_l^2, cut at 0, divide by the fraction."""
    n = feature_fractions.shape[0]
    for i in range(X.shape[0]):
        fraction[i] = _fraction(X[i, n:], feature_fractions)
        own = D.dtype.type(0)
        for feature in range(n):
            own += weights[feature] * X[i, feature] * X[i, feature]
        for j in range(D.shape[1]):
            D[i, j] = max(own + D[i, j], 0) / abs(fraction[i])


@_jit
def back_vectors(X, D, fraction, value, touched, scattered, squares, slope):
    """Add g x and g m to the rows of `scattered`, (M, 2n), and the derivatives by lambda and by its fractions."""
    n = slope.shape[0]
    for i in range(X.shape[0]):
        s, total, by_fraction = abs(fraction[i]), D.dtype.type(0), D.dtype.type(0)
        for k in range(touched.shape[1]):
            j = touched[i, k]
            own, row = value[i, k] / s, scattered[j]
            total += own
            by_fraction -= own * D[i, j]
            for column in range(2 * n):
                row[column] += own * X[i, column]
        for feature in range(n):
            squares[feature] += total * X[i, feature] * X[i, feature]
        _add_slope(X[i, n:], fraction[i], by_fraction, slope)


@_jit
def _add_slope(mask, fraction, by_fraction, slope):
    """Add dE/ds (m - s), unless s is a constant."""
    if fraction > 0:
        for feature in range(slope.shape[0]):
            slope[feature] += by_fraction * (mask[feature] - fraction)


@_jit
def finish_images(X, Z, feature_fractions, images, D, fraction):
    """Add Omega x to -Omega (m w), (N, M, m), and write the squared lengths divided by the fraction."""
    n = feature_fractions.shape[0]
    for i in range(X.shape[0]):
        fraction[i] = _fraction(X[i, n:], feature_fractions)
        for j in range(D.shape[1]):
            square = D.dtype.type(0)
            for k in range(Z.shape[1]):
                images[i, j, k] += Z[i, k]
                square += images[i, j, k] * images[i, j, k]
            D[i, j] = square / abs(fraction[i])


@_jit
def back_images(X, images, D, fraction, value, touched, sums, slope):
    """Add g (Omega e) x' and g (Omega e) m' to `sums`, (M, m, 2n), and the derivatives by the fractions."""
    n = slope.shape[0]
    for i in range(X.shape[0]):
        s, by_fraction = abs(fraction[i]), D.dtype.type(0)
        for k in range(touched.shape[1]):
            j = touched[i, k]
            by_fraction -= value[i, k] / s * D[i, j]
            for row in range(images.shape[2]):
                own, into = value[i, k] / s * images[i, j, row], sums[j, row]
                for column in range(2 * n):
                    into[column] += own * X[i, column]
        _add_slope(X[i, n:], fraction[i], by_fraction, slope)


@_jit
def _missing(mask, found):
    """Write the missing features of a row and one that does not exist, and return their number."""
    count = 0
    for feature in range(mask.shape[0]):
        found[count] = feature
        count += mask[feature] == 0
    found[count] = mask.shape[0]
    return count


@_jit
def make_table(W, Lambda, pulled, table):
    """Write what missing features a <= b add to each squared length, single features on the diagonal: (n, n + 1, M)."""
    for a in range(W.shape[1]):
        for j in range(W.shape[0]):
            weight = W[j, a]
            table[a, a, j] = weight * (Lambda[a, a] * weight - 2 * pulled[j, a])
            for b in range(a + 1, W.shape[1]):
                table[a, b, j] = 2 * weight * Lambda[a, b] * W[j, b]


@_jit
def _add_terms(found, count, y, columns, table, sums):
    """Add the terms of the missing features, for all prototypes; pairs two at a time, as sums are in memory."""
    for a in range(count):
        own, of_feature, twice = columns[found[a]], table[found[a]], 2 * y[found[a]]
        for j in range(sums.shape[0]):
            sums[j] += twice * own[j]
        for b in range(a, count, 2):
            one, other = of_feature[found[b]], of_feature[found[b + 1]]
            for j in range(sums.shape[0]):
                sums[j] += one[j] + other[j]


@_jit
def _square(row, w, Lambda):
    """e'Lambda e by the differences e = m (x - w), for a packed row."""
    n, total = w.shape[0], Lambda.dtype.type(0)
    for a in range(n):
        own = row[n + a] * (row[a] - w[a])
        if own != 0:
            for b in range(n):
                total += own * Lambda[a, b] * row[n + b] * (row[b] - w[b])
    return total


@_jit
def finish_pairs(X, y, W, Lambda, columns, table, base, feature_fractions, least, D, fraction):
    """Scores -2 x'Lambda w become distances, by the pairs of missing features; y = Lambda x becomes m y.

    Where a square is below `least` of x'Lambda x + w'Lambda w it would be their rounding errors: it is computed again.
    """
    n = feature_fractions.shape[0]
    found = np.empty(n + 1, dtype=np.uintp)
    for i in range(X.shape[0]):
        fraction[i], count, own = _fraction(X[i, n:], feature_fractions), _missing(X[i, n:], found), D.dtype.type(0)
        if count == n:  # without a value a sample is equally near to all
            D[i] = 0
            continue
        for feature in range(n):
            own += X[i, feature] * y[i, feature]
        _add_terms(found, count, y[i], columns, table, D[i])
        for j in range(D.shape[1]):
            square = own + base[j] + D[i, j]
            if not square > least * (own + base[j]):
                square = _square(X[i], W[j], Lambda)
            D[i, j] = max(square, 0) / abs(fraction[i])
        for feature in range(n):
            y[i, feature] *= X[i, n + feature]


@_jit
def back_pairs(X, seen, W, D, fraction, value, touched, by_prototype, pairs, total, slope):
    """Add g m y, g of the pairs of missing features, (M, n, n), and g; m y becomes s x/2 - m u."""
    n = slope.shape[0]
    found, pulled = np.empty(n + 1, dtype=np.uintp), np.empty(n, dtype=seen.dtype)
    for i in range(X.shape[0]):
        count, s, half, by_fraction = _missing(X[i, n:], found), abs(fraction[i]), D.dtype.type(0), D.dtype.type(0)
        pulled[:] = 0
        for k in range(touched.shape[1]):
            j = touched[i, k]
            own, row, of_prototype = value[i, k] / s, by_prototype[j], pairs[j]
            total[j] += own
            half += own / 2
            by_fraction -= own * D[i, j]
            for feature in range(n):
                pulled[feature] += own * W[j, feature]
                row[feature] += own * seen[i, feature]
            for a in range(count):
                entry = of_prototype[found[a]]
                for b in range(a, count):
                    entry[found[b]] += own
        for feature in range(n):
            seen[i, feature] = half * X[i, feature] - X[i, n + feature] * pulled[feature]
        _add_slope(X[i, n:], fraction[i], by_fraction, slope)


@_jit
def join_pairs(pairs, total, W, Lambda, by_prototype, by_Lambda):
    """The terms of the pairs: (Lambda C_j) w_j less what `by_prototype` holds, and the sum of (w_j w_j') C_j."""
    n = W.shape[1]
    for j in range(W.shape[0]):
        T = pairs[j]
        for a in range(n):
            pulled = W.dtype.type(0)
            for b in range(n):
                own = (total[j] - T[a, a] - T[b, b] + T[min(a, b), max(a, b)]) * W[j, b]
                pulled += own * Lambda[a, b]
                by_Lambda[a, b] += own * W[j, a]
            by_prototype[j, a] = pulled - by_prototype[j, a]


@_jit
def predict_pairs(Lambda, folded, columns, table, base, X, centre, labels, bound, winner, close):
    """Write the nearest prototype of each row, and whether rounding errors could decide; return whether for any.

    Of the distances only -2 x'Lambda w and the terms of the missing features differ between prototypes. `bound` holds
    the factors of a bound of the errors, for rows with missing values and complete ones, what is added to |x|, and what
    is added to the bound.
    """
    n, some = X.shape[1], False
    found, row, y, scores = np.empty(n + 1, dtype=np.uintp), np.empty(2 * n), np.empty(n), base.copy()
    x, mask = row[:n], row[n:]
    for i in range(X.shape[0]):
        _pack(X[i], centre, row)
        count = _missing(mask, found)
        for a in range(count):
            y[found[a]] = _dot(Lambda[found[a]], x)
        for j in range(labels.shape[0]):
            scores[j] = base[j] + _dot(folded[j], x)
        _add_terms(found, count, y, columns, table, scores)
        best, second, of_best = np.inf, np.inf, -1
        for j in range(labels.shape[0]):
            if scores[j] < best:
                second = best if labels[j] != of_best else second
                best, of_best, winner[i] = scores[j], labels[j], j
            elif labels[j] != of_best and scores[j] < second:
                second = scores[j]
        length, factor = np.sqrt(_dot(x, x)) + bound[2], bound[0] if count else bound[1]
        close[i] = count == n or not second - best > factor * length * length + bound[3]
        some |= close[i]
    return some


@_jit
def _dot(one, other):
    total = 0.0
    for place in range(one.shape[0]):
        total += one[place] * other[place]
    return total
