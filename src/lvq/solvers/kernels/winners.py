"""Which prototypes a step may move."""

import numpy as np

from lvq.solvers.kernels.compiling import helper, inlined
from lvq.solvers.kernels.rule import LVQ3, LVQ21


@inlined
def _nearest_own_and_other(rule, bits, keys, count, low, high):
    """The nearest prototype of the true class (rows low..high) and the nearest of all others.

    Non-negative floats order as the integers of their bits, and an integer minimum vectorises where a floating one,
    which must respect NaN, does not. The index goes into the lowest bits of a 64-bit key, so the minimum brings it
    along, and equal distances fall to the lowest index. float32 keeps all of its bits; float64 gives up the last
    log2(count), far below the rounding of a distance that was found by a product. Keys from `count` on are largest.
    """
    largest = np.iinfo(np.int64).max
    for j in range(count):
        keys[j] = ((np.int64(bits[j]) << rule.key_shift) & ~rule.index_mask) | j
    own, other = largest, largest
    for j in range(low, high):
        own = min(own, keys[j])
        keys[j] = largest
    for j in range(keys.shape[0]):
        other = min(other, keys[j])
    return own & rule.index_mask, other & rule.index_mask


@inlined
def two_nearest(distances, count):
    first, second = 0, 1
    if distances[1] < distances[0]:
        first, second = 1, 0
    for j in range(2, count):
        if distances[j] < distances[first]:
            first, second = j, first
        elif distances[j] < distances[second]:
            second = j
    return first, second


@helper
def nearest_pair(distances, count, low, high):
    """The nearest prototype of the true class (rows low..high) and the nearest of all others; changes nothing."""
    first = low
    for j in range(low + 1, high):
        if distances[j] < distances[first]:
            first = j
    second = 0 if low > 0 else high
    for j in range(second + 1, count):
        if (j < low or j >= high) and distances[j] < distances[second]:
            second = j
    return first, second


@inlined
def choose(rule, distances, bits, keys, count, low, high):
    """The two prototypes a step may move, and whether each is of the true class (rows low..high)."""
    if rule.cost == LVQ21 or rule.cost == LVQ3:
        first, second = two_nearest(distances, count)
        return first, second, low <= first < high, low <= second < high
    first, second = _nearest_own_and_other(rule, bits, keys, count, low, high)
    return first, second, True, False
