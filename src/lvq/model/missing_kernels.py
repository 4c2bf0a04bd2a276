"""Compiled sums over pairs of missing features; `missing_pairs.py` has the formulas and makes the arrays."""

import numba
import numpy as np

LANES = 8  # prototypes whose sums are kept in registers; tables have a multiple of so many columns

_jit = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})


@_jit
def _missing(row, found):
    """Write the missing features of a row, and return their number."""
    count = 0
    for feature in range(row.shape[0]):
        found[count] = feature
        count += row[feature] == 0
    return count


@_jit
def forward(values, mask, y, table, base, D):
    """Write to D the terms of the squared lengths other than the product of m y with the prototypes; y becomes m y."""
    found = np.empty(mask.shape[1] + 1, dtype=np.uintp)
    for i in range(mask.shape[0]):
        count, own = _missing(mask[i], found), table.dtype.type(0)
        if count == mask.shape[1]:  # without a value a sample is equally near to all, and m y is 0 already
            D[i] = 0
            continue
        for feature in range(mask.shape[1]):
            own += values[i, feature] * y[i, feature]
            y[i, feature] *= mask[i, feature]
        for part in range(table.shape[2]):
            s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = own
            for a in range(count):
                of_feature = table[found[a], :, part]
                for b in range(a, count):
                    entry = of_feature[found[b]]
                    s0 += entry[0]
                    s1 += entry[1]
                    s2 += entry[2]
                    s3 += entry[3]
                    s4 += entry[4]
                    s5 += entry[5]
                    s6 += entry[6]
                    s7 += entry[7]
            sums, first = (s0, s1, s2, s3, s4, s5, s6, s7), part * LANES
            for j in range(min(LANES, D.shape[1] - first)):
                D[i, first + j] = sums[j] + base[first + j]


@_jit
def backward(values, mask, seen, W, value, touched, by_prototype, pairs):
    """Add g m y to `by_prototype`, and g to the pairs of missing features, (M, n, n); m y becomes s x/2 - m u."""
    n = mask.shape[1]
    found, pulled = np.empty(n + 1, dtype=np.uintp), np.empty(n, dtype=seen.dtype)
    for i in range(mask.shape[0]):
        count, total = _missing(mask[i], found), seen.dtype.type(0)
        pulled[:] = 0
        for k in range(touched.shape[1]):
            j, own = touched[i, k], value[i, k]
            total += own / 2
            row, of_prototype = by_prototype[j], pairs[j]
            for feature in range(n):
                pulled[feature] += own * W[j, feature]
                row[feature] += own * seen[i, feature]
            for a in range(count):
                entry = of_prototype[found[a]]
                for b in range(a, count):
                    entry[found[b]] += own
        for feature in range(n):
            seen[i, feature] = total * values[i, feature] - mask[i, feature] * pulled[feature]
