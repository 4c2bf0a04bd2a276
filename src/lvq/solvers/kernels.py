"""All compiled code: one epoch of sample-by-sample training, for every model of the family.

This file repeats the formulas of `lvq.model` in compiled form; a test compares the two. Rules:

- Everything that numba compiles is in this file, because numba's disk cache does not notice an edited callee elsewhere;
  except `sparse_kernels` and `sparse_relevance_kernels`, whose caches hold the time at which this file was changed.
- Choices are integers inside `Rule`, never function arguments, which miss the disk cache.
- Every function releases the interpreter lock; parallelism is over folds and restarts, by threads, outside.
- Prototypes are ordered by class, so the prototypes of class k are the rows `starts[k]:starts[k + 1]`.
- Ties between prototypes go to the lowest index.
- A step that would move a prototype further than `Rule.reach` from its sample is left out, so nothing overflows.
- Derivatives are taken at the state before the step; prototypes and metric move together.

`derivative` below is always dE/dD, of the cost by the squared distance; the prototype step is then
`w += 2 rate derivative Lambda (x - w)` (up to sign). Rules without a cost (LVQ1 and its variants) have the same form
with a derivative of 1/2. `Rule.slope` is the steepness of GLVQ's sigmoid.
"""

from typing import NamedTuple

import numba
import numpy as np

from lvq.typing import Argument

# isnan must stay correct, so not fastmath=True: only the flags by which sums can be reordered and fused.
_options: dict[str, Argument] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract", "reassoc", "arcp", "nsz", "afn"},
}
_jit = numba.njit(**_options)
# what runs for every sample: a call that is not inlined copies a whole Rule and every array's shape to the stack
_inline = numba.njit(**_options, forceinline=True)

LVQ1, OLVQ1, LVQ21, LVQ3, GLVQ, MCE, LOGM, SNPC, RSLVQ = range(9)
IDENTITY, GAUSSIAN, CAUCHY, MULTIQUADRIC, RATIONAL = range(5)
FIXED, GRADIENT, HEBBIAN, HEBBIAN_SQUARED, FISHER1, FISHER2 = range(6)
CONSTANT, LINEAR, INVERSE = range(3)
TIME = -1.0  # value of Rule.slope that means the number of the step


class Rule(NamedTuple):
    """What one step does. Integers are choices, floats are quantities; every field has the same type in every model."""

    cost: int
    link: int
    relevance: int
    schedule: int
    horizon: float  # steps until the linear schedule reaches zero; steps in one unit of the 1/t schedule
    rate: float  # of the prototypes
    relevance_rate: float  # of lambda or Omega
    width_rate: float  # of the logarithm of the kernel's width
    shape: float  # the exponent of the rational quadratic kernel
    slope: float  # of the sigmoid in GLVQ; 0 the identity, TIME the number of the step
    xi: float  # of MCE, LOGM, SNPC, RSLVQ
    alpha: float  # of the regulariser
    window: float  # of LVQ2.1 and LVQ3
    epsilon: float  # of LVQ3
    relative: bool  # GLVQ's step times (d+ + d-)
    weighted_step: bool  # the prototype step carries lambda
    every: int  # samples from one step of lambda to the next, by the sum of their gradients
    by_maximum: bool  # Fisher scores divided by their maximum, not their sum
    two_classes: bool  # FC2 compares the winner with one rival, not all classes
    between_alone: bool  # Fisher scores without S_W as soon as one S_W is zero
    even_classes: bool  # FC1 weights all classes equally, and in one without a correct win all its prototypes
    reach: float  # largest squared distance that a step may leave between sample and prototype
    key_shift: int  # 32 for float32, 0 for float64: position of the distance in its search key
    index_mask: int  # the lowest bits of a search key, which hold the prototype's index


# ---------------------------------------------------------------------------------------------------------------------
# scalars: schedule, link, costs of a pair
# ---------------------------------------------------------------------------------------------------------------------


@_inline
def _decay(rule, step):
    if rule.schedule == LINEAR:
        return max(0.0, 1.0 - step / rule.horizon)
    if rule.schedule == INVERSE:
        return 1.0 / (1.0 + step / rule.horizon)
    return 1.0


@_inline
def _link(rule, width, distance):
    """The kernel's squared distance H and dH/dD, both functions of D / width^2."""
    if rule.link == IDENTITY:
        return distance, 1.0
    scale = 1.0 / (width * width)
    ratio = distance * scale
    if rule.link == GAUSSIAN:
        return -2.0 * np.expm1(-0.5 * ratio), scale * np.exp(-0.5 * ratio)
    if rule.link == CAUCHY:
        return 2.0 * ratio / (1.0 + ratio), 2.0 * scale / (1.0 + ratio) / (1.0 + ratio)
    if rule.link == MULTIQUADRIC:
        log = np.log1p(ratio)
        return -2.0 * np.expm1(-0.5 * log), scale * np.exp(-1.5 * log)
    log = np.log1p(ratio / (2.0 * rule.shape))
    return -2.0 * np.expm1(-rule.shape * log), scale * np.exp(-(rule.shape + 1.0) * log)


@_inline
def _sigmoid(z):
    small = np.exp(-abs(z))  # without a branch on the sign, which would be mispredicted half of the time
    return (small if z < 0.0 else 1.0) / (1.0 + small)


@_inline
def _margin_derivatives(rule, step, width, own, other):
    """Cost of a margin model and its derivatives on the squared distances of the nearest own and other prototype."""
    d_plus, plus_derivative = _link(rule, width, own)
    d_minus, minus_derivative = _link(rule, width, other)
    if rule.cost == GLVQ:
        total = d_plus + d_minus
        if total <= 0.0:
            return 0.5 if rule.slope != 0.0 else 0.0, rule.alpha * plus_derivative, 0.0
        mu = (d_plus - d_minus) / total
        cost, outer = mu, 1.0
        if rule.slope != 0.0:
            # a slope that grows with time only narrows the sigmoid's window: the step is f (1 - f), as Sato and Yamada
            # and Ridge print it, without the factor t
            sharpness = step + 1.0 if rule.slope == TIME else rule.slope
            cost = _sigmoid(sharpness * mu)
            outer = cost * (1.0 - cost) * (1.0 if rule.slope == TIME else sharpness)
        plus_part, minus_part = 2.0 * outer * (d_minus / total), 2.0 * outer * (d_plus / total)
        if not rule.relative:
            plus_part, minus_part = plus_part / total, minus_part / total
    else:
        z = rule.xi * (d_plus - d_minus)
        sigmoid = _sigmoid(z)
        if rule.cost == MCE:
            cost, plus_part = sigmoid, rule.xi * sigmoid * (1.0 - sigmoid)
        else:
            cost, plus_part = max(z, 0.0) + np.log(1.0 + np.exp(-abs(z))), rule.xi * sigmoid
        minus_part = plus_part
    alpha = rule.alpha * (d_plus + d_minus) if rule.relative else rule.alpha
    return cost + rule.alpha * d_plus, (plus_part + alpha) * plus_derivative, -minus_part * minus_derivative


@_inline
def _inside_window(rule, width, first, second):
    first_distance, _ = _link(rule, width, first)
    second_distance, _ = _link(rule, width, second)
    # first <= second, so their ratio is the smaller one; the window is on unsquared distances
    return second_distance > 0.0 and np.sqrt(first_distance / second_distance) > (1.0 - rule.window) / (
        1.0 + rule.window
    )


@_inline
def _pair_derivatives(rule, step, width, first, second, first_own, second_own, first_wins):
    """Cost and the derivatives of the two prototypes a step may move."""
    if rule.cost >= GLVQ:
        return _margin_derivatives(rule, step, width, first, second)
    if rule.cost == LVQ1 or rule.cost == OLVQ1:  # here first is the nearest own, second the nearest other
        if first_wins:
            return 0.0, 0.5, 0.0
        return 1.0, 0.0, -0.5
    wrong = 0.0 if first_own else 1.0  # LVQ2.1 and LVQ3: the two nearest of all
    if first_own != second_own and _inside_window(rule, width, first, second):
        return wrong, 0.5 if first_own else -0.5, 0.5 if second_own else -0.5
    if rule.cost == LVQ3 and first_own and second_own:
        return wrong, 0.5 * rule.epsilon, 0.5 * rule.epsilon
    return wrong, 0.0, 0.0


@_jit
def _soft_derivatives(rule, width, distances, derivatives, low, high):
    """Cost of SNPC or RSLVQ; derivatives on all squared distances; rows low..high are of the true class."""
    smallest = np.inf
    own_smallest = np.inf
    for j in range(derivatives.shape[0]):
        value, _ = _link(rule, width, distances[j])
        smallest = min(smallest, value)
        if low <= j < high:
            own_smallest = min(own_smallest, value)
    everything, own, own_scaled = 0.0, 0.0, 0.0
    for j in range(derivatives.shape[0]):
        value, _ = _link(rule, width, distances[j])
        membership = np.exp(-rule.xi * (value - smallest))
        everything += membership
        if low <= j < high:
            own += membership
            own_scaled += np.exp(-rule.xi * (value - own_smallest))
    posterior = own / everything
    for j in range(derivatives.shape[0]):
        value, link_derivative = _link(rule, width, distances[j])
        membership = np.exp(-rule.xi * (value - smallest)) / everything
        inside = low <= j < high
        within = np.exp(-rule.xi * (value - own_smallest)) / own_scaled if inside else 0.0
        if rule.cost == RSLVQ:
            derivative = within - membership
        else:
            derivative = membership * (1.0 - posterior) if inside else -membership * posterior
        derivatives[j] = rule.xi * (derivative + rule.alpha * within) * link_derivative
    log_own = np.log(own_scaled) - rule.xi * own_smallest
    regulariser = -rule.alpha * log_own
    if rule.cost == RSLVQ:
        return np.log(everything) - rule.xi * smallest - log_own + regulariser
    return 1.0 - posterior + regulariser


# ---------------------------------------------------------------------------------------------------------------------
# which prototypes
# ---------------------------------------------------------------------------------------------------------------------


@_inline
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


@_inline
def _two_nearest(distances, count):
    first, second = 0, 1
    if distances[1] < distances[0]:
        first, second = 1, 0
    for j in range(2, count):
        if distances[j] < distances[first]:
            first, second = j, first
        elif distances[j] < distances[second]:
            second = j
    return first, second


@_jit
def _nearest_pair(distances, count, low, high):
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


@_inline
def _choose(rule, distances, bits, keys, count, low, high):
    """The two prototypes a step may move, and whether each is of the true class (rows low..high)."""
    if rule.cost == LVQ21 or rule.cost == LVQ3:
        first, second = _two_nearest(distances, count)
        return first, second, low <= first < high, low <= second < high
    first, second = _nearest_own_and_other(rule, bits, keys, count, low, high)
    return first, second, True, False


@_inline
def _update_olvq1_rate(statistics, rule, moved, own):
    """OLVQ1: the rate of the winner falls when it was right and rises, up to its start, when it was wrong."""
    rate = statistics.rates[moved]
    rate = rate / (1.0 + rate) if own else rate / (1.0 - rate)
    statistics.rates[moved] = min(rate, rule.rate)


# ---------------------------------------------------------------------------------------------------------------------
# plain metric: look ahead by a matrix product
# ---------------------------------------------------------------------------------------------------------------------


@_inline
def _pair_distances(rows, sample, first, second):
    first_distance, second_distance = rows.dtype.type(0), rows.dtype.type(0)
    for k in range(rows.shape[1]):
        value = rows[sample, k]
        one, two = value - rows[first, k], value - rows[second, k]
        first_distance += one * one
        second_distance += two * two
    return float(first_distance), float(second_distance)


@_jit
def _plain_epoch(
    rule, X, y, weights, order, step, rows, starts, width, products, distances, bits, keys, lengths, statistics
):
    """One pass of LVQ1 .. LOGM in the plain metric. Returns the sum of the costs.

    `rows` holds the M prototypes and below them a block of samples, so that one product gives the dot products of the
    block with the prototypes and with itself. A step moves at most two prototypes by w += c (x - w), after which their
    products with the next samples change by c (x_k'x - x_k'w), without reading the features again. The distances of the
    chosen two are computed again as sums of squared differences, so that rounding in the products cannot affect a step.
    """
    block = products.shape[0]
    count = lengths.shape[0]
    samples = rows[count:]
    zero, two = rows.dtype.type(0), rows.dtype.type(2)  # Python numbers would convert float32 to float64 and back
    total = 0.0
    for begin in range(0, order.shape[0], block):
        filled = min(block, order.shape[0] - begin)
        for b in range(filled):
            i = order[begin + b]
            for k in range(X.shape[1]):
                rows[count + b, k] = X[i, k]
        np.dot(samples, rows.T, products)
        for b in range(filled):
            i = order[begin + b]
            square = products[b, count + b]
            for j in range(count):
                distance = square + lengths[j] - two * products[b, j]
                distances[j] = distance if distance > zero else zero
            low, high = starts[y[i]], starts[y[i] + 1]
            first, second, first_own, second_own = _choose(rule, distances, bits, keys, count, low, high)
            first_distance, second_distance = _pair_distances(rows, count + b, first, second)
            first_wins = first_distance < second_distance or (first_distance == second_distance and first < second)
            cost, first_derivative, second_derivative = _pair_derivatives(
                rule, step, width[0], first_distance, second_distance, first_own, second_own, first_wins
            )
            total += cost * weights[i]
            decay = _decay(rule, step) * weights[i]
            rate = 2.0 * rule.rate * decay
            if rule.cost == OLVQ1:
                winner = first if first_wins else second
                rate = 2.0 * statistics.rates[winner] * weights[i]
                _update_olvq1_rate(statistics, rule, winner, first_wins)
            _learn_width(rule, width, decay, first_derivative * first_distance + second_derivative * second_distance)
            first_change = _within_reach(rule, rate * first_derivative, first_distance)
            second_change = _within_reach(rule, rate * second_derivative, second_distance)
            if first_change != 0.0 and second_change != 0.0:
                _move_pair(rows, lengths, count + b, first, second, first_change, second_change)
                _update_products(products, count + b, b + 1, filled, first, first_change)
                _update_products(products, count + b, b + 1, filled, second, second_change)
            elif first_change != 0.0 or second_change != 0.0:
                moved, change = (first, first_change) if second_change == 0.0 else (second, second_change)
                lengths[moved] = _move(rows, count + b, moved, change)
                _update_products(products, count + b, b + 1, filled, moved, change)
            step += 1.0
    return total


@_inline
def _within_reach(rule, change, distance):
    """The change, or 0 where it would move the prototype too far from the sample."""
    rest = 1.0 - change
    return change if rest * rest * distance <= rule.reach else 0.0


@_inline
def _move(rows, sample, j, change):
    """w += change (x - w), and its new squared length."""
    factor, total = rows.dtype.type(change), rows.dtype.type(0)
    for k in range(rows.shape[1]):
        value = rows[j, k] + factor * (rows[sample, k] - rows[j, k])
        rows[j, k] = value
        total += value * value
    return total


@_inline
def _move_pair(rows, lengths, sample, first, second, first_change, second_change):
    """`_move` for two different prototypes at once: the sample is read once, and the two sums run side by side."""
    one, two = rows.dtype.type(first_change), rows.dtype.type(second_change)
    first_length, second_length = rows.dtype.type(0), rows.dtype.type(0)
    for k in range(rows.shape[1]):
        value = rows[sample, k]
        left, right = rows[first, k], rows[second, k]
        left += one * (value - left)
        right += two * (value - right)
        rows[first, k], rows[second, k] = left, right
        first_length += left * left
        second_length += right * right
    lengths[first], lengths[second] = first_length, second_length


@_inline
def _update_products(products, sample, begin, end, j, change):
    """Update the products of later samples with prototype j after its move towards `sample`."""
    factor = products.dtype.type(change)
    for later in range(begin, end):
        products[later, j] += factor * (products[later, sample] - products[later, j])


@_inline
def _learn_width(rule, width, decay, moment):
    """dE/dlog(width) = -2 sum_j derivative_j D_j for every kernel, as each is a function of D / width^2."""
    if rule.width_rate > 0.0 and np.isfinite(moment):
        change = 2.0 * rule.width_rate * decay * moment
        width[0] = min(max(width[0] * np.exp(min(max(change, -1.0), 1.0)), width[1]), width[2])


# ---------------------------------------------------------------------------------------------------------------------
# weighted metric (a relevance for each feature), and the soft models in the plain one
# ---------------------------------------------------------------------------------------------------------------------


@_jit
def _weighted_distances(x, W, relevances, owner, distances):
    """Prototype j measures with row owner[j] of the relevances."""
    for j in range(W.shape[0]):
        total, own = x.dtype.type(0), relevances[owner[j]]
        for k in range(x.shape[0]):
            difference = x[k] - W[j, k]
            total += own[k] * difference * difference
        distances[j] = total


@_jit
def _weighted_move(rule, x, W, j, relevances, change):
    """w_j += change (x - w_j), feature by feature times its relevance where the step carries it."""
    reached = 0.0
    for k in range(x.shape[0]):
        factor = change * relevances[k] if rule.weighted_step else change
        rest = (1.0 - factor) * (x[k] - W[j, k])
        reached += rest * rest
    if not reached <= rule.reach:
        return
    for k in range(x.shape[0]):
        factor = x.dtype.type(change * relevances[k] if rule.weighted_step else change)
        W[j, k] += factor * (x[k] - W[j, k])


@_jit
def _to_simplex(candidate, relevances):
    """Clip at zero and divide by the sum. Returns False, and changes nothing, where that is impossible."""
    total = 0.0
    for k in range(candidate.shape[0]):
        if candidate[k] < 0.0:
            candidate[k] = 0.0
        total += candidate[k]
    if not (np.isfinite(total) and total > 0.0):
        return False
    for k in range(candidate.shape[0]):
        relevances[k] = candidate[k] / total
    return True


@_jit
def _hebbian(rule, x, W, winner, right, rate, relevances, candidate):
    sign = -1.0 if right else 1.0
    for k in range(x.shape[0]):
        difference = abs(x[k] - W[winner, k])
        if rule.relevance == HEBBIAN_SQUARED:
            difference *= difference
        candidate[k] = relevances[k] + sign * rate * difference
    if not _to_simplex(candidate, relevances):
        relevances[:] = 1.0 / x.shape[0]


@_jit
def _gradient_relevances(x, W, derivatives, active, rate, relevances, owner, candidate):
    """lambda -= rate dE/dlambda with dE/dlambda = sum_j derivative_j (x - w_j)^2; -1 in `active` means none.

    Each row of the relevances has the sum over its own prototypes.
    """
    for g in range(relevances.shape[0]):
        for k in range(x.shape[0]):
            candidate[k] = relevances[g, k]
        for a in range(active.shape[0]):
            j = active[a]
            if j >= 0 and owner[j] == g:
                for k in range(x.shape[0]):
                    difference = x[k] - W[j, k]
                    candidate[k] -= rate * derivatives[j] * difference * difference
        _to_simplex(candidate, relevances[g])


@_jit
def _add_gradient(x, W, derivatives, active, rate, gradient):
    """Add rate dE/dlambda of a sample."""
    for a in range(active.shape[0]):
        j = active[a]
        if j >= 0:
            for k in range(x.shape[0]):
                difference = x[k] - W[j, k]
                gradient[k] += rate * derivatives[j] * difference * difference


@_jit
def _take_step(relevances, gradient):
    """lambda -= gradient, which is then 0."""
    for k in range(gradient.shape[0]):
        gradient[k] = relevances[k] - gradient[k]
    _to_simplex(gradient, relevances)
    gradient[:] = 0.0


@_jit
def _record(statistics, x, winner, label, right, moments):
    statistics.seen[label] += 1.0
    if not right:
        return
    statistics.wins[winner] += 1.0
    if moments:
        count = statistics.wins[winner]
        for k in range(x.shape[0]):
            before = x[k] - statistics.mean[winner, k]
            statistics.mean[winner, k] += before / count
            statistics.scatter[winner, k] += before * (x[k] - statistics.mean[winner, k])


@_jit
def _fraction_of(statistics, begin, end, j, even):
    """Weight of prototype j in its class, the rows begin..end: its correct wins, or 1 where none has one yet."""
    wins = statistics.wins[begin:end].sum()
    if wins > 0.0:
        return statistics.wins[j] / wins
    return 1.0 / (end - begin) if even else 0.0


@_jit
def _prior_of(statistics, label, classes, even):
    return 1.0 / classes if even else statistics.seen[label] / statistics.seen.sum()


@_jit
def _fisher_over_prototypes(statistics, W, starts, between, within, even):
    """FC1: class means and variances over the prototypes, weighted by their fraction of the class's correct wins."""
    between[:] = 0.0
    within[:] = 0.0
    features, classes = W.shape[1], starts.shape[0] - 1
    overall = np.zeros(features)
    means = np.zeros((classes, features))
    known = np.zeros(classes)  # the priors of the classes that count
    for label in range(classes):
        begin, end = starts[label], starts[label + 1]
        # relative to one of them, so that equal prototypes give exactly no variance
        base = begin
        while base < end and _fraction_of(statistics, begin, end, base, even) == 0.0:
            base += 1
        if base == end:
            continue
        known[label] = _prior_of(statistics, label, classes, even)
        for j in range(base, end):
            fraction = _fraction_of(statistics, begin, end, j, even)
            for k in range(features):
                means[label, k] += fraction * (W[j, k] - W[base, k])
        for k in range(features):
            means[label, k] += W[base, k]
            overall[k] += known[label] * means[label, k]
        for j in range(base, end):
            fraction = _fraction_of(statistics, begin, end, j, even)
            for k in range(features):
                difference = W[j, k] - means[label, k]
                within[k] += known[label] * fraction * difference * difference
    if (known > 0.0).sum() < 2:
        return False
    for label in range(classes):
        for k in range(features):
            difference = means[label, k] - overall[k] / known.sum()
            between[k] += known[label] * difference * difference
    return True


@_jit
def _fisher_of_neighbours(rule, statistics, distances, starts, winner, between, within):
    """FC2: the nearest prototype of each class that has won enough samples, by the moments of those samples."""
    between[:] = 0.0
    within[:] = 0.0
    features = between.shape[0]
    chosen = np.full(starts.shape[0] - 1, -1)
    needed = 1.0 if rule.two_classes else 2.0
    for label in range(starts.shape[0] - 1):
        for j in range(starts[label], starts[label + 1]):
            if statistics.wins[j] >= needed and (chosen[label] < 0 or distances[j] < distances[chosen[label]]):
                chosen[label] = j
    if rule.two_classes and not _keep_winner_and_rival(statistics, distances, starts, winner, chosen):
        return False
    known = 0
    for label in range(chosen.shape[0]):
        known += 1 if chosen[label] >= 0 else 0
    if known < 2:
        return False
    for k in range(features):
        average = 0.0
        for label in range(chosen.shape[0]):
            if chosen[label] >= 0:
                average += statistics.mean[chosen[label], k] / known
        for label in range(chosen.shape[0]):
            j = chosen[label]
            if j >= 0:
                difference = statistics.mean[j, k] - average
                between[k] += difference * difference / known
                if statistics.wins[j] > 1.0:
                    within[k] += statistics.scatter[j, k] / (statistics.wins[j] - 1.0)
    return True


@_jit
def _keep_winner_and_rival(statistics, distances, starts, winner, chosen):
    """Two classes only: the winner itself, and the nearest prototype of another class that has statistics."""
    if statistics.wins[winner] < 1.0:
        return False
    rival = -1
    for label in range(chosen.shape[0]):
        j = chosen[label]
        if starts[label] <= winner < starts[label + 1]:
            chosen[label] = winner
        elif j >= 0 and (rival < 0 or distances[j] < distances[chosen[rival]]):
            if rival >= 0:
                chosen[rival] = -1
            rival = label
        else:
            chosen[label] = -1
    return rival >= 0


@_jit
def _average_scores(rule, statistics, between, within, relevances):
    """The running mean of S_B / S_W, divided by its sum or maximum; a feature with S_W = 0 scores 0 (see Rule)."""
    smallest = np.inf
    largest = 0.0
    for k in range(within.shape[0]):
        smallest = min(smallest, within[k])
        largest = max(largest, within[k])
    alone = rule.between_alone and smallest == 0.0
    if largest == 0.0 and not alone:
        return
    total, top = 0.0, 0.0
    for k in range(between.shape[0]):
        if not alone:
            between[k] = between[k] / within[k] if within[k] > 0.0 else 0.0
        total += between[k]
        top = max(top, between[k])
    norm = top if rule.by_maximum else total
    if not (np.isfinite(norm) and norm > 0.0):
        return
    statistics.scores[0] += 1.0
    for k in range(between.shape[0]):
        relevances[k] += (between[k] / norm - relevances[k]) / statistics.scores[0]


@_jit
def _weighted_epoch(
    rule, X, y, weights, order, step, W, starts, width, relevances, owner, distances, derivatives, statistics, scratch
):
    """One pass with a relevance for each feature, or of a soft model. Returns the sum of the costs.

    Every step changes the metric, or every prototype, so distances are computed sample by sample. `relevances` has a
    row for each group of prototypes; rules without a gradient have one.
    """
    before = np.empty_like(relevances)
    count = W.shape[0]
    soft = rule.cost >= SNPC
    everyone = np.arange(count)
    pair = np.empty(2, dtype=np.int64)
    total = 0.0
    for s in range(order.shape[0]):
        i = order[s]
        x = X[i]
        low, high = starts[y[i]], starts[y[i] + 1]
        _weighted_distances(x, W, relevances, owner, distances)
        decay = _decay(rule, step) * weights[i]
        rate = 2.0 * rule.rate * decay
        active = everyone
        moment = 0.0
        if soft:
            cost = _soft_derivatives(rule, width[0], distances, derivatives, low, high)
            winner = np.argmin(distances[:count])
            for j in range(count):
                moment += derivatives[j] * distances[j]
        else:
            if rule.cost == LVQ21 or rule.cost == LVQ3:
                first, second = _two_nearest(distances, count)
            else:
                first, second = _nearest_pair(distances, count, low, high)
            first_distance, second_distance = float(distances[first]), float(distances[second])
            winner = (
                first
                if first_distance < second_distance or (first_distance == second_distance and first < second)
                else second
            )
            cost, derivatives[first], derivatives[second] = _pair_derivatives(
                rule,
                step,
                width[0],
                first_distance,
                second_distance,
                low <= first < high,
                low <= second < high,
                winner == first,
            )
            pair[0] = first if derivatives[first] != 0.0 else -1
            pair[1] = second if derivatives[second] != 0.0 else -1
            active = pair
            moment = derivatives[first] * first_distance + derivatives[second] * second_distance
        total += cost * weights[i]
        right = low <= winner < high
        if rule.cost == OLVQ1:
            rate = 2.0 * statistics.rates[winner] * weights[i]
            _update_olvq1_rate(statistics, rule, winner, right)
        _learn_width(rule, width, decay, moment)
        if rule.relevance == GRADIENT and rule.every > 1:
            _add_gradient(x, W, derivatives, active, rule.relevance_rate * decay, scratch[1])
            _move_active(rule, x, W, active, relevances, owner, rate, derivatives)
            if (s + 1) % rule.every == 0 or s + 1 == order.shape[0]:
                _take_step(relevances[0], scratch[1])
        elif rule.relevance == GRADIENT:
            before[:] = relevances  # the prototypes' step is taken in the metric before the step
            _gradient_relevances(x, W, derivatives, active, rule.relevance_rate * decay, relevances, owner, scratch[0])
            _move_active(rule, x, W, active, before, owner, rate, derivatives)
        else:
            if rule.relevance == HEBBIAN or rule.relevance == HEBBIAN_SQUARED:
                before[:] = relevances
                _hebbian(rule, x, W, winner, right, rule.relevance_rate * decay, relevances[0], scratch[0])
                _move_active(rule, x, W, active, before, owner, rate, derivatives)
            else:
                _move_active(rule, x, W, active, relevances, owner, rate, derivatives)
        if rule.relevance == FISHER1 or rule.relevance == FISHER2:
            _record(statistics, x, winner, y[i], right, rule.relevance == FISHER2)
            if rule.relevance == FISHER1:
                defined = _fisher_over_prototypes(statistics, W, starts, scratch[0], scratch[1], rule.even_classes)
            else:
                defined = _fisher_of_neighbours(rule, statistics, distances, starts, winner, scratch[0], scratch[1])
            if defined:
                _average_scores(rule, statistics, scratch[0], scratch[1], relevances[0])
        step += 1.0
    return total


@_jit
def _move_active(rule, x, W, active, relevances, owner, rate, derivatives):
    for a in range(active.shape[0]):
        j = active[a]
        if j >= 0:
            _weighted_move(rule, x, W, j, relevances[owner[j]], rate * derivatives[j])


# ---------------------------------------------------------------------------------------------------------------------
# matrix metric
# ---------------------------------------------------------------------------------------------------------------------


# Four rows of Omega at a time: each vector is read once for four rows, and four sums are computed in parallel. With one
# row at a time the vectors are read again for each row, and the loops take more than twice the time.


@_jit
def _project(omega, x, out):
    rank, features = omega.shape
    whole = rank - rank % 4
    zero = omega.dtype.type(0)
    for r in range(0, whole, 4):
        p, q, s, t = zero, zero, zero, zero
        for k in range(features):
            value = x[k]
            p += omega[r, k] * value
            q += omega[r + 1, k] * value
            s += omega[r + 2, k] * value
            t += omega[r + 3, k] * value
        out[r], out[r + 1], out[r + 2], out[r + 3] = p, q, s, t
    for r in range(whole, rank):
        total = zero
        for k in range(features):
            total += omega[r, k] * x[k]
        out[r] = total


@_jit
def _pull_back(omega, first, second, first_out, second_out):
    """Omega' a for two vectors; Omega is read once."""
    rank, features = omega.shape
    whole = rank - rank % 4
    first_out[:] = 0
    second_out[:] = 0
    for r in range(0, whole, 4):
        a, b, c, d = first[r], first[r + 1], first[r + 2], first[r + 3]
        e, f, g, h = second[r], second[r + 1], second[r + 2], second[r + 3]
        for k in range(features):
            p, q, s, t = omega[r, k], omega[r + 1, k], omega[r + 2, k], omega[r + 3, k]
            first_out[k] += a * p + b * q + c * s + d * t
            second_out[k] += e * p + f * q + g * s + h * t
    for r in range(whole, rank):
        a, e = first[r], second[r]
        for k in range(features):
            first_out[k] += a * omega[r, k]
            second_out[k] += e * omega[r, k]


@_jit
def _rank_two_step(omega, a, u, b, v, first, second, first_out, second_out):
    """Omega -= a u' + b v', and in the same loop the products Omega `first` and Omega `second`."""
    rank, features = omega.shape
    whole = rank - rank % 4
    zero = omega.dtype.type(0)
    for r in range(rank):
        left, right = a[r], b[r]
        for k in range(features):
            omega[r, k] -= left * u[k] + right * v[k]
        if r % 4 == 3:
            r -= 3
            f0, f1, f2, f3 = zero, zero, zero, zero
            s0, s1, s2, s3 = zero, zero, zero, zero
            for k in range(features):
                one, two = first[k], second[k]
                o0, o1, o2, o3 = omega[r, k], omega[r + 1, k], omega[r + 2, k], omega[r + 3, k]
                f0, f1, f2, f3 = f0 + o0 * one, f1 + o1 * one, f2 + o2 * one, f3 + o3 * one
                s0, s1, s2, s3 = s0 + o0 * two, s1 + o1 * two, s2 + o2 * two, s3 + o3 * two
            first_out[r], first_out[r + 1], first_out[r + 2], first_out[r + 3] = f0, f1, f2, f3
            second_out[r], second_out[r + 1], second_out[r + 2], second_out[r + 3] = s0, s1, s2, s3
    for r in range(whole, rank):
        f0, s0 = zero, zero
        for k in range(features):
            f0, s0 = f0 + omega[r, k] * first[k], s0 + omega[r, k] * second[k]
        first_out[r], second_out[r] = f0, s0


@_jit
def _dot(a, b):
    total = 0.0
    for k in range(a.shape[0]):
        total += a[k] * b[k]
    return total


@_jit
def _norm_after_step(scale, first_step, a, u, second_step, b, v):
    """|Omega - s a u' - t b v'|^2 with a = Omega u and b = Omega v, not reading Omega; 0 where digits are lost."""
    before = 1.0 / (scale * scale)
    a_square, b_square = _dot(a, a), _dot(b, b)
    gain = first_step * first_step * a_square * _dot(u, u) + second_step * second_step * b_square * _dot(v, v)
    gain += before + 2.0 * first_step * second_step * _dot(a, b) * _dot(u, v)
    after = gain - 2.0 * (first_step * a_square + second_step * b_square)
    return after if after > 1e-4 * gain else 0.0


@_jit
def _update_projections(W, P, low, high, a, u, b, v):
    """P_i = Omega w_i for prototypes that did not move, after Omega -= a u' + b v': O(m + n) each."""
    for i in range(low, high - (high - low) % 2, 2):
        zero = W.dtype.type(0)
        p, q, s, t = zero, zero, zero, zero
        for k in range(W.shape[1]):
            left, right = u[k], v[k]
            p += left * W[i, k]
            q += right * W[i, k]
            s += left * W[i + 1, k]
            t += right * W[i + 1, k]
        for r in range(P.shape[1]):
            left, right = a[r], b[r]
            P[i, r] -= left * p + right * q
            P[i + 1, r] -= left * s + right * t
    if (high - low) % 2:
        i = high - 1
        p, q = W.dtype.type(0), W.dtype.type(0)
        for k in range(W.shape[1]):
            p += u[k] * W[i, k]
            q += v[k] * W[i, k]
        for r in range(P.shape[1]):
            P[i, r] -= a[r] * p + b[r] * q


@_jit
def _bounded_step(rule, W, j, u, direction, change):
    """w_j += change * direction, unless that leads out of reach; u = x - w_j."""
    factor = W.dtype.type(change)
    reached = 0.0
    for k in range(u.shape[0]):
        rest = u[k] - factor * direction[k]
        reached += rest * rest
    if reached <= rule.reach:
        for k in range(u.shape[0]):
            W[j, k] += factor * direction[k]


@_jit
def _project_distances(omega, scales, groups, x, W, P, z, distances):
    for g in range(omega.shape[0]):
        _project(omega[g], x, z[g])
        for j in range(groups[g], groups[g + 1]):
            total = x.dtype.type(0)
            for r in range(z.shape[1]):
                difference = z[g, r] - P[j, r]
                total += difference * difference
            distances[j] = total * scales[g] * scales[g]


@_jit
def _group_of(groups, j):
    g = 0
    while j >= groups[g + 1]:
        g += 1
    return g


@_jit
def _difference(rows, i, x, out):
    for k in range(x.shape[0]):
        out[k] = x[k] - rows[i, k]


@_jit
def _matrix_epoch(
    rule, X, y, weights, order, step, W, starts, width, omega, groups, distances, bits, keys, P, scales, z, wide, tall
):
    """One pass of a margin model with one Omega for each group of prototypes. Returns the sum of the costs.

    True matrices are `scales[g] * omega[g]`, of unit Frobenius norm: dividing a scalar after each step is enough. The
    projections P of the prototypes are kept and follow the rank-two step, so a sample costs O(mn + M(m + n)).
    `wide` has five rows of n, `tall` six rows of m, for scratch.
    """
    u, v, u_back, v_back = wide[0], wide[1], wide[2], wide[3]
    a, b, first_new, second_new = tall[0], tall[1], tall[2], tall[3]
    total = 0.0
    for s in range(order.shape[0]):
        i = order[s]
        x = X[i]
        low, high = starts[y[i]], starts[y[i] + 1]
        _project_distances(omega, scales, groups, x, W, P, z, distances)
        first, second, _, _ = _choose(rule, distances, bits, keys, W.shape[0], low, high)
        g, h = _group_of(groups, first), _group_of(groups, second)
        _difference(P, first, z[g], a)
        _difference(P, second, z[h], b)
        first_distance = float((a * a).sum() * scales[g] * scales[g])
        second_distance = float((b * b).sum() * scales[h] * scales[h])
        cost, first_derivative, second_derivative = _pair_derivatives(
            rule, step, width[0], first_distance, second_distance, True, False, first_distance <= second_distance
        )
        total += cost * weights[i]
        decay = _decay(rule, step) * weights[i]
        step += 1.0
        _learn_width(rule, width, decay, first_derivative * first_distance + second_derivative * second_distance)
        if first_derivative == 0.0 and second_derivative == 0.0:
            continue
        _difference(W, first, x, u)
        _difference(W, second, x, v)
        if g == h:
            _pull_back(omega[g], a, b, u_back, v_back)
        else:
            _pull_back(omega[g], a, a, u_back, v_back)
            _pull_back(omega[h], b, b, v_back, wide[4])
        rate = 2.0 * rule.rate * decay
        _bounded_step(rule, W, first, u, u_back, rate * first_derivative * scales[g] * scales[g])
        _bounded_step(rule, W, second, v, v_back, rate * second_derivative * scales[h] * scales[h])
        omega_rate = 2.0 * rule.relevance_rate * decay
        first_step, second_step = omega_rate * first_derivative, omega_rate * second_derivative
        if not _step_is_finite(first_step, second_step, first_distance, second_distance, u, v):
            _refresh(omega, groups, W, P, scales, first, second, g, h)
            continue
        if g == h:
            scales[g] = _norm_after_step(scales[g], first_step, a, u, second_step, b, v)
        else:
            scales[g] = _norm_after_step(scales[g], first_step, a, u, 0.0, b, v)
            scales[h] = _norm_after_step(scales[h], 0.0, a, u, second_step, b, v)
        a *= x.dtype.type(first_step)
        b *= x.dtype.type(second_step)
        if g == h:
            _update_projections(W, P, groups[g], groups[g + 1], a, u, b, v)
            _rank_two_step(omega[g], a, u, b, v, W[first], W[second], first_new, second_new)
        else:
            zero_row = tall[4]
            zero_row[:] = 0
            _update_projections(W, P, groups[g], groups[g + 1], a, u, zero_row, v)
            _update_projections(W, P, groups[h], groups[h + 1], zero_row, u, b, v)
            _rank_two_step(omega[g], a, u, zero_row, v, W[first], W[first], first_new, tall[5])
            _rank_two_step(omega[h], zero_row, u, b, v, W[second], W[second], second_new, tall[5])
        P[first] = first_new
        P[second] = second_new
        _rescale(omega, scales, g, P, groups[g], groups[g + 1])
        if h != g:
            _rescale(omega, scales, h, P, groups[h], groups[h + 1])
    return total


@_jit
def _step_is_finite(first_step, second_step, first_distance, second_distance, u, v):
    """Whether the step of Omega stays finite: its size against that of Omega, which is of unit norm."""
    size = abs(first_step) * np.sqrt(first_distance * float((u * u).sum())) + abs(second_step) * np.sqrt(
        second_distance * float((v * v).sum())
    )
    return size <= 1e6


@_jit
def _refresh(omega, groups, W, P, scales, first, second, g, h):
    _project(omega[g], W[first], P[first])
    _project(omega[h], W[second], P[second])


@_jit
def _rescale(omega, scales, g, P, low, high):
    """From the squared norm in scales[g] to the scalar that makes Omega one of unit norm; before it leaves a safe range
    it is folded into the arrays."""
    norm = np.sqrt(scales[g])
    if 1e-3 < norm < 1e3:
        scales[g] = 1.0 / norm
        return
    norm = np.sqrt(_square_norm(omega[g]))
    if norm > 0.0:
        omega[g] /= omega.dtype.type(norm)
        P[low:high] /= omega.dtype.type(norm)
    scales[g] = 1.0


@_jit
def _square_norm(omega):
    total = 0.0
    for r in range(omega.shape[0]):
        for k in range(omega.shape[1]):
            total += float(omega[r, k]) * float(omega[r, k])
    return total


@_jit
def _soft_matrix_epoch(
    rule, X, y, weights, order, step, W, starts, width, omega, groups, distances, derivatives, P, scales, z
):
    """One pass of SNPC or RSLVQ with matrices: every prototype moves, so a sample costs O(M m n), by products."""
    count = W.shape[0]
    U = np.empty_like(W)
    A = np.empty_like(P)
    total = 0.0
    for s in range(order.shape[0]):
        i = order[s]
        x = X[i]
        _project_distances(omega, scales, groups, x, W, P, z, distances)
        total += weights[i] * _soft_derivatives(rule, width[0], distances, derivatives, starts[y[i]], starts[y[i] + 1])
        decay = _decay(rule, step) * weights[i]
        step += 1.0
        moment, size = 0.0, 0.0
        for j in range(count):
            moment += derivatives[j] * distances[j]
        _learn_width(rule, width, decay, moment)
        omega_rate = 2.0 * rule.relevance_rate * decay
        for g in range(omega.shape[0]):
            for j in range(groups[g], groups[g + 1]):
                _difference(W, j, x, U[j])
                _difference(P, j, z[g], A[j])
                size += abs(omega_rate * derivatives[j]) * np.sqrt(distances[j] * float((U[j] * U[j]).sum()))
                A[j] *= x.dtype.type(derivatives[j])
        for g in range(omega.shape[0]):
            low, high = groups[g], groups[g + 1]
            rate = 2.0 * rule.rate * decay * scales[g] * scales[g]
            back = np.dot(A[low:high], omega[g])
            for j in range(low, high):
                _bounded_step(rule, W, j, U[j], back[j - low], rate)
            if size <= 1e6:
                omega[g] -= x.dtype.type(omega_rate) * np.dot(A[low:high].T, U[low:high])
                scales[g] = _square_norm(omega[g])
                _rescale(omega, scales, g, P, low, high)
            P[low:high] = np.dot(W[low:high], omega[g].T)
    return total


# ---------------------------------------------------------------------------------------------------------------------
# several epochs in one call: `orders` (epochs, samples) is the order of the samples, `costs` gets each epoch's sum
# ---------------------------------------------------------------------------------------------------------------------


@_jit
def plain_epochs(
    rule, X, y, weights, orders, costs, step, rows, starts, width, products, distances, bits, keys, lengths, statistics
):
    """LVQ1 to LOGM in the plain metric."""
    for epoch in range(orders.shape[0]):
        costs[epoch] = _plain_epoch(
            rule,
            X,
            y,
            weights,
            orders[epoch],
            step,
            rows,
            starts,
            width,
            products,
            distances,
            bits,
            keys,
            lengths,
            statistics,
        )
        step += orders.shape[1]


@_jit
def weighted_epochs(
    rule,
    X,
    y,
    weights,
    orders,
    costs,
    step,
    W,
    starts,
    width,
    relevances,
    owner,
    distances,
    derivatives,
    statistics,
    scratch,
):
    """Any model with a relevance for each feature, shared or local; soft models in the plain metric."""
    for epoch in range(orders.shape[0]):
        costs[epoch] = _weighted_epoch(
            rule,
            X,
            y,
            weights,
            orders[epoch],
            step,
            W,
            starts,
            width,
            relevances,
            owner,
            distances,
            derivatives,
            statistics,
            scratch,
        )
        step += orders.shape[1]


@_jit
def refresh_projections(omega, groups, W, P, scales):
    """Scale the matrices to unit norm and project all prototypes again, so that rounding errors do not accumulate."""
    for g in range(omega.shape[0]):
        norm = np.sqrt(_square_norm(omega[g]))
        if norm > 0.0:
            omega[g] /= omega.dtype.type(norm)
        scales[g] = 1.0
        for j in range(groups[g], groups[g + 1]):
            _project(omega[g], W[j], P[j])


@_jit
def matrix_epochs(
    rule,
    X,
    y,
    weights,
    orders,
    costs,
    step,
    W,
    starts,
    width,
    omega,
    groups,
    distances,
    bits,
    keys,
    P,
    scales,
    z,
    wide,
    tall,
):
    """Margin models with matrices; the kept projections are refreshed once an epoch."""
    for epoch in range(orders.shape[0]):
        refresh_projections(omega, groups, W, P, scales)
        costs[epoch] = _matrix_epoch(
            rule,
            X,
            y,
            weights,
            orders[epoch],
            step,
            W,
            starts,
            width,
            omega,
            groups,
            distances,
            bits,
            keys,
            P,
            scales,
            z,
            wide,
            tall,
        )
        step += orders.shape[1]


@_jit
def soft_matrix_epochs(
    rule, X, y, weights, orders, costs, step, W, starts, width, omega, groups, distances, derivatives, P, scales, z
):
    """Soft models with matrices."""
    for epoch in range(orders.shape[0]):
        refresh_projections(omega, groups, W, P, scales)
        costs[epoch] = _soft_matrix_epoch(
            rule,
            X,
            y,
            weights,
            orders[epoch],
            step,
            W,
            starts,
            width,
            omega,
            groups,
            distances,
            derivatives,
            P,
            scales,
            z,
        )
        step += orders.shape[1]
