"""Links, costs and their derivatives by the squared distances, for one sample."""

import numpy as np

from lvq.solvers.kernels.compiling import helper, inlined
from lvq.solvers.kernels.rule import CAUCHY, GAUSSIAN, GLVQ, IDENTITY, LVQ1, LVQ3, MCE, MULTIQUADRIC, OLVQ1, RSLVQ, TIME


@inlined
def linked(rule, width, distance):
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


@inlined
def _sigmoid(z):
    small = np.exp(-abs(z))  # without a branch on the sign, which would be mispredicted half of the time
    return (small if z < 0.0 else 1.0) / (1.0 + small)


@inlined
def margin_derivatives(rule, step, width, own, other):
    """Cost of a margin model and its derivatives on the squared distances of the nearest own and other prototype."""
    d_plus, plus_derivative = linked(rule, width, own)
    d_minus, minus_derivative = linked(rule, width, other)
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


@inlined
def _inside_window(rule, width, first, second):
    first_distance, _ = linked(rule, width, first)
    second_distance, _ = linked(rule, width, second)
    # first <= second, so their ratio is the smaller one; the window is on unsquared distances
    return second_distance > 0.0 and np.sqrt(first_distance / second_distance) > (1.0 - rule.window) / (
        1.0 + rule.window
    )


@inlined
def pair_derivatives(rule, step, width, first, second, first_own, second_own, first_wins):
    """Cost and the derivatives of the two prototypes a step may move."""
    if rule.cost >= GLVQ:
        return margin_derivatives(rule, step, width, first, second)
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
