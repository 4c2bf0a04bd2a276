"""For one sample: links, costs and their derivatives, the prototypes that a step touches, and the size of the step."""

import numpy as np

from lvq.solvers.kernels import rule as choices
from lvq.solvers.kernels.compiling import helper, inlined


@inlined
def linked(rule, width, distance):
    """The kernel's squared distance H and dH/dD, both functions of D / width^2."""
    if rule.link == choices.IDENTITY:
        return distance, 1.0
    scale = 1.0 / (width * width)
    ratio = distance * scale
    if rule.link == choices.GAUSSIAN:
        return -2.0 * np.expm1(-0.5 * ratio), scale * np.exp(-0.5 * ratio)
    if rule.link == choices.CAUCHY:
        return 2.0 * ratio / (1.0 + ratio), 2.0 * scale / (1.0 + ratio) / (1.0 + ratio)
    if rule.link == choices.MULTIQUADRIC:
        log = np.log1p(ratio)
        return -2.0 * np.expm1(-0.5 * log), scale * np.exp(-1.5 * log)
    log = np.log1p(ratio / (2.0 * rule.shape))
    return -2.0 * np.expm1(-rule.shape * log), scale * np.exp(-(rule.shape + 1.0) * log)


@inlined
def _sigmoid(z):
    small = np.exp(-abs(z))  # without a branch on the sign, which would be mispredicted half of the time
    return (small if z < 0.0 else 1.0) / (1.0 + small)


@inlined
def margin_derivatives(rule, step, width, own, other):
    """Cost of a margin model and its derivatives on the squared distances of the nearest own and other prototype."""
    d_plus, plus_derivative = linked(rule, width, own)
    d_minus, minus_derivative = linked(rule, width, other)
    if rule.cost == choices.GLVQ:
        total = d_plus + d_minus
        if total <= 0.0:
            return 0.5 if rule.slope != 0.0 else 0.0, rule.alpha * plus_derivative, 0.0
        mu = (d_plus - d_minus) / total
        cost, outer = mu, 1.0
        if rule.slope != 0.0:
            # a slope that grows with time only narrows the sigmoid's window: the step is f (1 - f), as Sato and Yamada
            # and Ridge print it, without the factor t
            sharpness = step + 1.0 if rule.slope == choices.TIME else rule.slope
            cost = _sigmoid(sharpness * mu)
            outer = cost * (1.0 - cost) * (1.0 if rule.slope == choices.TIME else sharpness)
        plus_part, minus_part = 2.0 * outer * (d_minus / total), 2.0 * outer * (d_plus / total)
        if not rule.relative:
            plus_part, minus_part = plus_part / total, minus_part / total
    else:
        z = rule.xi * (d_plus - d_minus)
        sigmoid = _sigmoid(z)
        if rule.cost == choices.MCE:
            cost, plus_part = sigmoid, rule.xi * sigmoid * (1.0 - sigmoid)
        else:
            cost, plus_part = max(z, 0.0) + np.log(1.0 + np.exp(-abs(z))), rule.xi * sigmoid
        minus_part = plus_part
    alpha = rule.alpha * (d_plus + d_minus) if rule.relative else rule.alpha
    return cost + rule.alpha * d_plus, (plus_part + alpha) * plus_derivative, -minus_part * minus_derivative


@inlined
def _window_derivatives(rule, width, first, second, first_own, second_own):
    """LVQ2.1 and LVQ3: the two nearest of all move if just one is of the true class and the sample lies between them.

    If both are, they move at a fraction epsilon of the rate, which is 0 in LVQ2.1.
    """
    if first_own == second_own:
        derivative = 0.5 * rule.epsilon if first_own else 0.0
        return derivative, derivative
    nearer, _ = linked(rule, width, first)
    farther, _ = linked(rule, width, second)
    # the window is on unsquared distances
    limit = (1.0 - rule.window) / (1.0 + rule.window)
    if farther > 0.0 and np.sqrt(nearer / farther) > limit:
        return 0.5 if first_own else -0.5, 0.5 if second_own else -0.5
    return 0.0, 0.0


@helper
def soft_derivatives(rule, width, distances, derivatives, low, high):
    """Cost of SNPC or RSLVQ; derivatives on all squared distances; rows low..high are of the true class."""
    smallest = np.inf
    own_smallest = np.inf
    for j in range(derivatives.shape[0]):
        value, _ = linked(rule, width, distances[j])
        smallest = min(smallest, value)
        if low <= j < high:
            own_smallest = min(own_smallest, value)
    everything, own, own_scaled = 0.0, 0.0, 0.0
    for j in range(derivatives.shape[0]):
        value, _ = linked(rule, width, distances[j])
        membership = np.exp(-rule.xi * (value - smallest))
        everything += membership
        if low <= j < high:
            own += membership
            own_scaled += np.exp(-rule.xi * (value - own_smallest))
    posterior = own / everything
    for j in range(derivatives.shape[0]):
        value, link_derivative = linked(rule, width, distances[j])
        membership = np.exp(-rule.xi * (value - smallest)) / everything
        inside = low <= j < high
        within = np.exp(-rule.xi * (value - own_smallest)) / own_scaled if inside else 0.0
        if rule.cost == choices.RSLVQ:
            derivative = within - membership
        else:
            derivative = membership * (1.0 - posterior) if inside else -membership * posterior
        derivatives[j] = rule.xi * (derivative + rule.alpha * within) * link_derivative
    log_own = np.log(own_scaled) - rule.xi * own_smallest
    regulariser = -rule.alpha * log_own
    if rule.cost == choices.RSLVQ:
        return np.log(everything) - rule.xi * smallest - log_own + regulariser
    return 1.0 - posterior + regulariser


@helper
def cross_entropy_derivatives(rule, width, distances, derivatives, active, starts, own):
    """The cross-entropy and its derivatives on the squared distances of the nearest prototype of each class.

    The indices of these are written to `active`; returns the cost and their number.
    """
    number, nearest_own, smallest, mine = 0, 0, np.inf, 0.0
    for k in range(starts.shape[0] - 1):
        if starts[k] == starts[k + 1]:
            continue
        nearest = starts[k]
        for j in range(nearest + 1, starts[k + 1]):
            if distances[j] < distances[nearest]:
                nearest = j
        value, _ = linked(rule, width, distances[nearest])
        smallest = min(smallest, value)
        if k == own:
            nearest_own, mine = nearest, value
        active[number] = nearest
        number += 1
    total, rivals = 0.0, 0.0
    for a in range(number):
        value, _ = linked(rule, width, distances[active[a]])
        part = np.exp(-rule.xi * (value - smallest))
        total += part
        rivals += 0.0 if active[a] == nearest_own else part
    for a in range(number):
        j = active[a]
        value, link_derivative = linked(rule, width, distances[j])
        if j == nearest_own:
            derivatives[j] = (rule.xi * rivals / total + rule.alpha) * link_derivative
        else:
            derivatives[j] = -rule.xi * np.exp(-rule.xi * (value - smallest)) / total * link_derivative
    return np.log(total) + rule.xi * (mine - smallest) + rule.alpha * mine, number


@inlined
def _two_nearest(distances):
    first, second = 0, 1
    if distances[1] < distances[0]:
        first, second = 1, 0
    for j in range(2, distances.shape[0]):
        if distances[j] < distances[first]:
            first, second = j, first
        elif distances[j] < distances[second]:
            second = j
    return first, second


@inlined
def _nearest_pair(distances, low, high):
    """The nearest prototype of the true class (rows low..high) and the nearest of all others."""
    first = low
    for j in range(low + 1, high):
        if distances[j] < distances[first]:
            first = j
    second = 0 if low > 0 else high
    for j in range(second + 1, distances.shape[0]):
        if (j < low or j >= high) and distances[j] < distances[second]:
            second = j
    return first, second


@inlined
def find_pair(rule, distances, low, high):
    """The two prototypes that a cost of two looks at: own and other, or in rules with a window the two nearest."""
    if rule.cost == choices.WINDOW:
        return _two_nearest(distances)
    return _nearest_pair(distances, low, high)


@inlined
def touch_pair(rule, time, width, distances, derivatives, active, first, second, low, high):
    """The cost of a sample that touches two prototypes; their indices and derivatives are written."""
    active[0], active[1] = first, second
    one, two = distances[first], distances[second]
    if rule.cost >= choices.GLVQ:
        cost, derivatives[first], derivatives[second] = margin_derivatives(rule, time, width, one, two)
        return cost
    nearest_own = low <= winner_of(distances, active, 2) < high
    if rule.cost == choices.WINNER:  # the winner alone moves
        derivatives[first], derivatives[second] = 0.5 if nearest_own else 0.0, 0.0 if nearest_own else -0.5
    else:
        first_own, second_own = low <= first < high, low <= second < high
        derivatives[first], derivatives[second] = _window_derivatives(rule, width, one, two, first_own, second_own)
    return 0.0 if nearest_own else 1.0


@helper
def touch(rule, time, width, distances, derivatives, active, starts, own):
    """The cost of a sample, and how many prototypes it touches; their indices and derivatives are written."""
    count, low, high = derivatives.shape[0], starts[own], starts[own + 1]
    if rule.cost == choices.CROSS_ENTROPY:
        return cross_entropy_derivatives(rule, width, distances, derivatives, active, starts, own)
    if rule.cost > choices.PAIR_COSTS:
        for j in range(count):
            active[j] = j
        return soft_derivatives(rule, width, distances, derivatives, low, high), count
    first, second = find_pair(rule, distances, low, high)
    return touch_pair(rule, time, width, distances, derivatives, active, first, second, low, high), 2


@inlined
def winner_of(distances, active, number):
    """The nearest of the touched prototypes, which is the nearest of all."""
    winner = active[0]
    for a in range(1, number):
        j = active[a]
        if distances[j] < distances[winner] or (distances[j] == distances[winner] and j < winner):
            winner = j
    return winner


@inlined
def decay_of(rule, step):
    """Factor of all rates after a number of steps."""
    return max(0.0, 1.0 - step / rule.horizon)


@inlined
def rate_of(rule, statistics, decay, weight, winner, right):
    """Twice the rate of the prototypes.

    OLVQ1 has one for each: the winner's falls when it was right and rises, up to its start, when it was wrong.
    """
    if statistics.rates.shape[0] == 0:
        return 2.0 * rule.rate * decay
    rate = statistics.rates[winner]
    statistics.rates[winner] = min(rate / (1.0 + rate) if right else rate / (1.0 - rate), rule.rate)
    return 2.0 * rate * weight


@inlined
def within_reach(rule, change, distance):
    """The change, or 0 where it would move the prototype too far from the sample."""
    rest = 1.0 - change
    return change if rest * rest * distance <= rule.reach else 0.0


@inlined
def learn_width(rule, width, decay, distances, derivatives, active, number):
    """dE/dlog(width) = -2 sum_j derivative_j D_j for every kernel, as each is a function of D / width^2."""
    if rule.width_rate == 0.0:
        return
    moment = 0.0
    for a in range(number):
        moment += derivatives[active[a]] * distances[active[a]]
    if np.isfinite(moment):
        change = 2.0 * rule.width_rate * decay * moment
        width[0] = min(max(width[0] * np.exp(min(max(change, -1.0), 1.0)), width[1]), width[2])
