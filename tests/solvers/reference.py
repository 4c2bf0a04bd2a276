"""The papers' formulas, one sample at a time, in the plainest NumPy: what the compiled kernels must equal.

Written from the papers and their errata, not from the library; slow on purpose. Nothing is kept that could be computed
again: the Fisher scores, for instance, come from the whole history of samples at every step. Readings where the papers
leave a choice:

- derivatives are taken before the step, prototypes and metric move together;
- the Fisher scores look at the prototypes after, the nearest ones at the distances before, the step of the same sample;
- the rate of step t (counted from 0 over all epochs) is the start times 1, 1 - t/horizon or 1/(1 + t/horizon);
- a sample's weight multiplies all rates of its step, and nothing else.
"""

from dataclasses import dataclass, field

import numpy as np

# ---------------------------------------------------------------------------------------------------------------------
# radial kernels: h, dh/dD and dh/dlog(width) of a squared distance
# ---------------------------------------------------------------------------------------------------------------------


def gaussian(D, width, shape):
    """h = exp(-D/(2 s^2))."""
    h = np.exp(-D / (2 * width**2))
    return h, -h / (2 * width**2), h * D / width**2


def cauchy(D, width, shape):
    """h = 1/(1 + D/s^2)."""
    h = 1 / (1 + D / width**2)
    return h, -(h**2) / width**2, h**2 * 2 * D / width**2


def inverse_multiquadric(D, width, shape):
    """h = 1/sqrt(1 + D/s^2)."""
    h = 1 / np.sqrt(1 + D / width**2)
    return h, -(h**3) / (2 * width**2), h**3 * D / width**2


def rational_quadratic(D, width, shape):
    """h = (1 + D/(2 a s^2))^(-a)."""
    base = 1 + D / (2 * shape * width**2)
    return base**-shape, -(base ** (-shape - 1)) / (2 * width**2), base ** (-shape - 1) * D / width**2


KERNELS = {
    "gaussian": gaussian,
    "cauchy": cauchy,
    "inverse_multiquadric": inverse_multiquadric,
    "rational_quadratic": rational_quadratic,
}

# ---------------------------------------------------------------------------------------------------------------------
# a model and its state
# ---------------------------------------------------------------------------------------------------------------------


@dataclass
class Spec:
    """A model, its rates and its variants."""

    cost: str
    relevance: str = "none"  # none, gradient, matrix, hebbian, fc1, fc2
    kernel: str | None = None
    shape: float = 1.0  # of the rational quadratic kernel
    rate: float = 0.1
    relevance_rate: float = 0.05
    width_rate: float = 0.0
    schedule: str = "constant"
    horizon: float = 1.0
    sigmoid: float | str | None = None  # of GLVQ: None the identity, a slope, or "time"
    relative: bool = False
    xi: float = 1.0
    alpha: float = 0.0
    window: float = 0.3
    epsilon: float = 0.0
    weighted_step: bool = False
    squared: bool = False  # RLVQ as Ridge prints it
    scores: str = "sum"
    no_variance: str = "zero"
    rivals: str = "all"
    classes: str = "fractions"


@dataclass
class State:
    """The state of a model after some samples."""

    prototypes: np.ndarray
    labels: np.ndarray
    metric: np.ndarray | None = None  # lambda (n) or Omega (m, n), or several of them, (k, n) or (k, m, n)
    owner: np.ndarray | None = None  # which of several each prototype uses
    width: float = 1.0
    variances: np.ndarray | None = None  # of the features, where values are missing
    time: int = 0
    history: list = field(default_factory=list)  # (sample, class, winner) of every step
    scores: list = field(default_factory=list)  # Fisher scores of every step that had some
    rates: np.ndarray | None = None  # OLVQ1
    cost: float = 0.0  # of the last sample

    def matrix_of(self, j):
        """lambda or Omega of prototype j."""
        return self.metric if self.owner is None else self.metric[self.owner[j]]


def learn(spec, state, X, y, weights, n_epochs=1):
    """Step through the samples in their order, epoch by epoch; yields the state after every step."""
    state.prototypes = state.prototypes.astype(float).copy()
    state.metric = None if state.metric is None else state.metric.astype(float).copy()
    if spec.cost == "olvq1" and state.rates is None:
        state.rates = np.full(len(state.labels), spec.rate)
    for _ in range(n_epochs):
        for x, label, weight in zip(X, y, weights):
            take = step if state.variances is None else incomplete_step
            take(spec, state, x.astype(float), int(label), float(weight))
            state.time += 1
            yield state


def decay(spec, time):
    """Factor of all rates after `time` steps."""
    if spec.schedule == "linear":
        return 1 - time / spec.horizon
    assert spec.schedule == "constant"
    return 1.0


def distances(state, x):
    """Squared distance of a sample to each prototype."""
    u = x - state.prototypes
    if state.metric is None:
        return (u**2).sum(axis=1)
    return np.array([squared_length(state.matrix_of(j), u[j]) for j in range(len(u))])


def squared_length(metric, u):
    """u'Lambda u."""
    return (metric * u**2).sum() if metric.ndim == 1 else ((metric @ u) ** 2).sum()


def step(spec, state, x, label, weight):
    """One sample: all derivatives first, then all updates."""
    D = distances(state, x)
    winner = int(np.argmin(D))  # of equal ones the first
    left = decay(spec, state.time) * weight
    before = State(state.prototypes.copy(), state.labels, state.metric, state.owner, state.width)
    if spec.cost in RULES:
        moves = RULES[spec.cost](spec, before, D, label)
        rate = spec.rate * left
        if spec.cost == "olvq1":
            rate = state.rates[winner] * weight
            sign = 1 if state.labels[winner] == label else -1
            state.rates[winner] = min(state.rates[winner] / (1 + sign * state.rates[winner]), spec.rate)
        for j, factor in moves.items():
            weighted = before.metric if spec.weighted_step else 1.0
            state.prototypes[j] += rate * factor * weighted * (x - before.prototypes[j])
        state.cost = float(state.labels[winner] != label)
    else:
        gradient_step(spec, state, before, x, label, D, left)
    if spec.relevance == "hebbian":
        hebbian(spec, state, before, x, label, winner, spec.relevance_rate * left)
    state.history.append((x, label, winner))
    if spec.relevance in ("fc1", "fc2"):
        scores = fc1(spec, state) if spec.relevance == "fc1" else fc2(spec, state, D)
        if scores is not None:
            state.scores.append(scores)
            state.metric = np.mean(state.scores, axis=0)


# ---------------------------------------------------------------------------------------------------------------------
# Kohonen's rules: which prototypes move, by which fraction of the rate
# ---------------------------------------------------------------------------------------------------------------------


def lvq1(spec, state, D, label):
    """Ridge, Eq. 3."""
    winner = int(np.argmin(D))
    return {winner: 1.0 if state.labels[winner] == label else -1.0}


def lvq21(spec, state, D, label):
    """The two nearest, one of them of the true class, with the sample in the window between them."""
    i, j = np.argsort(induced(spec, state, D)[0], kind="stable")[:2]
    correct = [state.labels[i] == label, state.labels[j] == label]
    d_i, d_j = np.sqrt(induced(spec, state, D)[0][[i, j]])
    ratio = min(d_i / d_j, d_j / d_i) if d_i > 0 else 0.0  # d_i <= d_j
    if sum(correct) == 1 and ratio > (1 - spec.window) / (1 + spec.window):
        return {i: 1.0 if correct[0] else -1.0, j: 1.0 if correct[1] else -1.0}
    if spec.cost == "lvq3" and all(correct):
        return {i: spec.epsilon, j: spec.epsilon}
    return {}


RULES = {"lvq1": lvq1, "olvq1": lvq1, "lvq21": lvq21, "lvq3": lvq21}

# ---------------------------------------------------------------------------------------------------------------------
# costs: value, and derivative by every induced distance
# ---------------------------------------------------------------------------------------------------------------------


def induced(spec, state, D):
    """H = k(v,v) - 2 k(v,w) + k(w,w) = 2 h(0) - 2 h(D), dH/dD and dH/dlog(width)."""
    if spec.kernel is None:
        return D, np.ones_like(D), np.zeros_like(D)
    h, by_distance, by_width = KERNELS[spec.kernel](D, state.width, spec.shape)
    return 2 - 2 * h, -2 * by_distance, -2 * by_width


def nearest_own_and_other(H, labels, label):
    """Indices of d+ and d-."""
    own = [j for j in range(len(H)) if labels[j] == label]
    other = [j for j in range(len(H)) if labels[j] != label]
    return min(own, key=lambda j: H[j]), min(other, key=lambda j: H[j])


def sigmoid(z):
    """1/(1 + exp(-z))."""
    return 1 / (1 + np.exp(-z))


def glvq(spec, H, own, other, time):
    """mu = (d+ - d-)/(d+ + d-); the derivatives of f(mu) by d+ and d-."""
    total = H[own] + H[other] or np.inf  # mu = 0 and no step where both are 0
    mu = (H[own] - H[other]) / total
    if spec.sigmoid is None:
        value, derivative = mu, 1.0
    elif spec.sigmoid == "time":  # Ridge, Eq. 5 and 8: the slope t is not in the derivative
        value = sigmoid(mu * (time + 1))
        derivative = value * (1 - value)
    else:
        value = sigmoid(mu * spec.sigmoid)
        derivative = spec.sigmoid * value * (1 - value)
    return value, derivative * 2 * H[other] / total**2, -derivative * 2 * H[own] / total**2


def mce(spec, H, own, other, time):
    """Jin, Eq. 4 and 5, with g = -distance."""
    value = sigmoid(spec.xi * (H[own] - H[other]))
    return value, spec.xi * value * (1 - value), -spec.xi * value * (1 - value)


def logm(spec, H, own, other, time):
    """Jin, Eq. 10, 12 and 13."""
    posterior = sigmoid(-spec.xi * (H[own] - H[other]))
    return -np.log(posterior), spec.xi * (1 - posterior), -spec.xi * (1 - posterior)


MARGINS = {"glvq": glvq, "mce": mce, "logm": logm}


def cost_and_derivatives(spec, state, H, label):
    """Cost of the sample with the regulariser, and its derivative by every H."""
    derivatives = np.zeros(len(H))
    mine = state.labels == label
    if spec.cost in MARGINS:
        own, other = nearest_own_and_other(H, state.labels, label)
        value, derivatives[own], derivatives[other] = MARGINS[spec.cost](spec, H, own, other, state.time)
        value += spec.alpha * H[own]
        derivatives[own] += spec.alpha
        if spec.relative:  # the gradient times d+ + d-
            derivatives *= H[own] + H[other]
        return value, derivatives
    if spec.cost == "cross_entropy":
        nearest = {c: min(np.flatnonzero(state.labels == c), key=lambda j: H[j]) for c in np.unique(state.labels)}
        scale = sum(np.exp(-spec.xi * H[j]) for j in nearest.values())
        for c, j in nearest.items():
            derivatives[j] = spec.xi * ((c == label) - np.exp(-spec.xi * H[j]) / scale) + spec.alpha * (c == label)
        own = H[nearest[label]]
        return np.log(scale) + spec.xi * own + spec.alpha * own, derivatives
    e = np.exp(-spec.xi * H)
    P = e / e.sum()
    P_y = P[mine].sum()
    if spec.cost == "snpc":  # Jin, Eq. 16 to 18
        value = 1 - P_y
        derivatives[mine] = spec.xi * P[mine] * (1 - P_y)
        derivatives[~mine] = -spec.xi * P[~mine] * P_y
    else:
        assert spec.cost == "rslvq"
        value = -np.log(P_y)
        derivatives[mine] = spec.xi * (P[mine] / P_y - P[mine])
        derivatives[~mine] = -spec.xi * P[~mine]
    value -= spec.alpha * np.log(e[mine].sum())
    derivatives[mine] += spec.alpha * spec.xi * P[mine] / P_y
    return value, derivatives


def gradient_step(spec, state, before, x, label, D, left):
    """Prototypes, metric and width follow the negative gradient of the cost."""
    H, by_distance, by_width = induced(spec, before, D)
    before.time = state.time
    state.cost, by_induced = cost_and_derivatives(spec, before, H, label)
    derivatives = by_induced * by_distance
    metric = before.metric
    by_metric = None if metric is None else np.zeros_like(metric)
    for j in np.flatnonzero(derivatives):
        u = x - before.prototypes[j]
        if metric is None or not spec.weighted_step:
            weighted = u
        elif before.matrix_of(j).ndim == 1:
            weighted = before.matrix_of(j) * u
        else:
            weighted = before.matrix_of(j).T @ (before.matrix_of(j) @ u)
        state.prototypes[j] = before.prototypes[j] + spec.rate * left * 2 * derivatives[j] * weighted
        if metric is not None:
            part = by_metric if before.owner is None else by_metric[before.owner[j]]
            if part.ndim == 1:
                part += derivatives[j] * u**2
            else:
                part += 2 * derivatives[j] * np.outer(before.matrix_of(j) @ u, u)
    if spec.relevance in ("gradient", "matrix"):
        move_metric(spec, state, by_metric, left)
    if spec.width_rate:
        state.width = np.exp(np.log(before.width) - spec.width_rate * left * (by_induced * by_width).sum())


# ---------------------------------------------------------------------------------------------------------------------
# relevance rules
# ---------------------------------------------------------------------------------------------------------------------


def clip_and_normalise(relevances):
    """Clip at 0 and divide by the sum; None where all are 0."""
    relevances = np.maximum(relevances, 0)
    return relevances / relevances.sum() if relevances.sum() > 0 else None


def hebbian(spec, state, before, x, label, winner, rate):
    """RLVQ: Ridge, Eq. 9, or with |x - w|, as in Bojer et al.."""
    difference = np.abs(x - before.prototypes[winner]) ** (2 if spec.squared else 1)
    sign = -1 if state.labels[winner] == label else 1
    state.metric = clip_and_normalise(before.metric + sign * rate * difference)
    if state.metric is None:
        state.metric = np.full(len(x), 1 / len(x))


def fc1(spec, state):
    """Ridge, Eq. 13 to 17, over the prototypes, from all samples so far."""
    won = np.array(
        [sum(1 for _, c, j in state.history if j == i and state.labels[i] == c) for i in range(len(state.labels))]
    )
    classes = list(np.unique(state.labels))
    if spec.classes == "fractions":
        classes = [c for c in classes if won[state.labels == c].sum() > 0]
    if not classes:
        return None
    prior = np.array([sum(1 for _, label, _ in state.history if label == c) for c in classes]) / len(state.history)
    if spec.classes == "even":
        prior = np.full(len(classes), 1 / len(classes))
    means, spreads = [], []
    for c in classes:
        p = won[state.labels == c] if won[state.labels == c].any() else np.ones((state.labels == c).sum())
        p = p / p.sum()
        members = state.prototypes[state.labels == c]
        means.append(p @ members)
        # the mean of (w - mean)^2 as the mean over pairs, which is exactly 0 where all are equal or just one counts
        pairs = [(i, j) for i in range(len(p)) for j in range(i)]
        spreads.append(sum((p[i] * p[j] * (members[i] - members[j]) ** 2 for i, j in pairs), np.zeros(len(members[0]))))
    overall = (prior / prior.sum()) @ np.array(means)
    return normalised(spec, prior @ (np.array(means) - overall) ** 2, prior @ np.array(spreads))


def fc2(spec, state, D):
    """Ridge, Eq. 19 to 26, over the samples that each nearest prototype has won correctly."""
    won = [[x for x, c, j in state.history if j == i and state.labels[i] == c] for i in range(len(state.labels))]
    nearest = sorted(range(len(D)), key=lambda j: D[j])  # of equal ones the first
    chosen = []
    if spec.rivals == "nearest":
        winner = state.history[-1][2]
        rivals = [j for j in nearest if state.labels[j] != state.labels[winner] and len(won[j]) >= 1]
        if len(won[winner]) >= 1 and rivals:
            chosen = [winner, rivals[0]]
    else:
        for c in np.unique(state.labels):
            chosen += [j for j in nearest if state.labels[j] == c and len(won[j]) >= 2][:1]
    if len(chosen) < 2:
        return None
    means = np.array([np.mean(won[j], axis=0) for j in chosen])
    variances = [np.var(won[j], axis=0, ddof=1) if len(won[j]) > 1 else np.zeros(len(means[0])) for j in chosen]
    return normalised(spec, ((means - means.mean(axis=0)) ** 2).mean(axis=0), np.sum(variances, axis=0))


def normalised(spec, between, within):
    """F = S_B/S_W over its sum or maximum; None where that is undefined."""
    if spec.no_variance == "between" and (within == 0).any():
        scores = between
    elif (within == 0).all():
        return None
    else:
        scores = np.array([b / w if w > 0 else 0.0 for b, w in zip(between, within)])
    norm = scores.max() if spec.scores == "max" else scores.sum()
    return scores / norm if norm > 0 else None


# ---------------------------------------------------------------------------------------------------------------------
# samples with missing values, whose gradients are complex steps
# ---------------------------------------------------------------------------------------------------------------------


def parts_of(x, w, metric, variances):
    """e'Lambda e and s as the documents define them, for complex numbers too."""
    seen = ~np.isnan(x)
    Lambda = np.eye(len(x)) if metric is None else np.diag(metric) if metric.ndim == 1 else metric.T @ metric
    e = (x - w)[seen]
    weights = np.diag(Lambda) * variances
    s = weights[seen].sum() / weights.sum()
    return e @ Lambda[np.ix_(seen, seen)] @ e, s if s.real > 0 and not seen.all() else 1.0


def observed_distance(x, w, metric, variances):
    square, s = parts_of(x, w, metric, variances)
    return square / s


def derivative(function, point, step=1e-30):
    """All partial derivatives by complex steps, which lose no digits."""
    result = np.zeros(point.shape)
    for place in np.ndindex(point.shape):
        moved = point.astype(complex)
        moved[place] += 1j * step
        result[place] = function(moved).imag / step
    return result


def incomplete_step(spec, state, x, label, weight):
    """One sample: all derivatives first, then all updates. The step is the gradient times s."""
    W, metric, variances = state.prototypes.copy(), state.metric, state.variances
    metrics = [None if metric is None else state.matrix_of(j) for j in range(len(W))]
    D = np.array([observed_distance(x, W[j], metrics[j], variances).real for j in range(len(W))])
    H, by_distance, by_width = induced(spec, state, D)
    state.cost, by_induced = cost_and_derivatives(spec, state, H, int(label))
    left = decay(spec, state.time) * weight
    by_metric = None if metric is None else np.zeros_like(metric)
    for j in range(len(W)):
        s, factor = parts_of(x, W[j], metrics[j], variances)[1], by_induced[j] * by_distance[j]
        by_prototype = derivative(lambda w, j=j: observed_distance(x, w, metrics[j], variances), W[j])
        state.prototypes[j] = W[j] - spec.rate * left * s * factor * by_prototype
        if metric is not None:
            own = derivative(lambda R, j=j: observed_distance(x, W[j], R, variances), metrics[j])
            part = by_metric if state.owner is None else by_metric[state.owner[j]]
            part += s * factor * own
    move_metric(spec, state, by_metric, left)
    if spec.width_rate:
        state.width = np.exp(np.log(state.width) - spec.width_rate * left * (by_induced * by_width).sum())


def move_metric(spec, state, by_metric, left):
    """A step against the gradient; relevances of which nothing remains stay, matrices are of unit norm."""
    metric = state.metric
    if metric is None:
        return
    turned = metric - spec.relevance_rate * left * by_metric
    if metric.ndim == (2 if state.owner is None else 3):
        state.metric = turned / np.sqrt((turned**2).sum(axis=(-2, -1), keepdims=True))
        return
    rows = [(clip_and_normalise(new), old) for new, old in zip(np.atleast_2d(turned), np.atleast_2d(metric))]
    state.metric = np.reshape([old if new is None else new for new, old in rows], metric.shape)
