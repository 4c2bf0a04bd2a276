"""Classes that are added to a fitted model or removed from it, while all other prototypes stay as they are, to the bit.

The prototypes of a new class start at its mean, or its cluster centres, and are trained by the model's cost (MCE by
that of LOGM, SNPC by that of RSLVQ) with everything else fixed, against old samples if given. Otherwise the rivals are
where the old prototypes started, the means of their classes, each with the spread of the new samples: a mean alone is
too easy a rival where classes overlap, and a trained prototype is not like a sample. On the unit sphere a mean of
samples is shorter than they are.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.optimize import minimize
from sklearn.utils.validation import _num_samples

from lvq.estimators.inputs import samples_of_classes
from lvq.estimators.specification import Parts
from lvq.estimators.streams import of_groups, of_prototypes, with_prototypes
from lvq.estimators.training import Training
from lvq.model.costs import LOGMCost, MCECost, RSLVQCost, SNPCCost, counts_steps
from lvq.model.local_metrics import LocalDiagonal
from lvq.model.metrics import LocalMetric
from lvq.model.objective import Params, Problem
from lvq.model.relevance import Relevance
from lvq.model.rows import canonical, dense, is_sparse, unit_rows
from lvq.model.samples import ArraySamples, filled, typical_variance
from lvq.model.starts import on_sphere, start_prototypes
from lvq.typing import Argument, Array, Label

if TYPE_CHECKING:
    from lvq.estimators.base import BaseLVQ

MOST_OLD = 1000  # old samples: half are nearest to the new prototypes, the others stand for all that are left
LARGEST = 2**24  # numbers in samples that stand in for old ones: sparse samples may have many features
CLASS_ITERATIONS = 50
# for costs that have no gradient far from the border, where training would end as it began: logarithms of the same
UNBOUNDED: dict[type, type] = {MCECost: LOGMCost, SNPCCost: RSLVQCost}


def with_class(
    estimator: "BaseLVQ", parts: Parts, X: ArrayLike, label: Label, X_old: ArrayLike | None, y_old: ArrayLike | None
) -> tuple[Training, np.ndarray]:
    """The model with prototypes for a new class, and all classes."""
    model, before = estimator.model_, estimator._training()
    given = _checked_label(estimator, label)
    classes = np.sort(np.append(model.classes, given))
    place = int(np.searchsorted(classes, label))
    if getattr(estimator, "cost_matrix", None) is not None:
        raise ValueError(
            f"add_class of {type(estimator).__name__}: the cost_matrix has no costs of a new class; fit a new model."
        )
    new = _samples(estimator, X, np.repeat(given, _num_samples(X)), classes)
    if (X_old is None) != (y_old is None):
        raise ValueError(f"add_class of {type(estimator).__name__} needs both X_old and y_old, or neither of them.")
    rivals = None if X_old is None or y_old is None else _samples(estimator, X_old, y_old, classes)
    counts = np.full(len(classes), int(np.median(np.bincount(model.labels, minlength=len(model.classes)))) or 1)
    W, labels = start_prototypes(new, counts, "kmeans", before.state.random_state, classes)
    W = (on_sphere(W, labels, new) if parts.unit_length else W).astype(model.dtype)
    old = before.labels + (before.labels >= place)
    kept, own = np.delete(np.arange(len(classes)), place), _new_metrics(before, W)
    training = with_prototypes(replace(before, labels=old), parts, W, labels, own, kept, len(classes))
    if not parts.cost.smooth or counts_steps(parts.cost):
        return training, classes
    if rivals is None:
        places = before.params.prototypes if before.state.starts is None else before.state.starts
        rivals = _stand_ins(places, old, new, parts.unit_length)
    else:
        every = max(1.0, before.state.units.scale.n_samples / rivals.n_samples)  # some count as all of the fit
        rivals = rivals._replace(weight=every * rivals.weight)
    return _trained(training, place, new, rivals, parts.unit_length), classes


def without_class(estimator: "BaseLVQ", label: Label) -> tuple[Training, np.ndarray]:
    """The model without the prototypes of a class, and the classes that remain."""
    name, model, before = type(estimator).__name__, estimator.model_, estimator._training()
    if label not in model.classes.tolist():
        raise ValueError(f"remove_class of {name} needs one of the classes {model.classes.tolist()}, got {label!r}.")
    place = model.classes.tolist().index(label)
    keep = before.labels != place
    if len(np.unique(before.labels[keep])) < 2:
        raise ValueError(f"remove_class of {name} must leave at least two classes; fit a new model instead.")
    labels = before.labels[keep]
    labels = labels - (labels > place)
    rule = before.state.relevance
    relevance = of_groups(rule, labels, of_prototypes(rule, before.labels, before.params.relevance, keep))
    state, kept = before.state, np.delete(np.arange(len(model.classes)), place)
    values = {
        field: array[kept] if field == "seen" and len(array) else array[keep] if len(array) == len(keep) else array
        for field, array in state.statistics._asdict().items()
    }
    starts = None if state.starts is None else state.starts[keep]
    state = replace(state, statistics=type(state.statistics)(**values), starts=starts)
    params = before.params._replace(prototypes=before.params.prototypes[keep], relevance=relevance)
    return replace(before, params=params, labels=labels, state=state), model.classes[kept]


# -- samples -----------------------------------------------------------------------------------------------------------


def _checked_label(estimator: "BaseLVQ", label: Label) -> np.ndarray:
    classes, name = estimator.model_.classes, type(estimator).__name__
    given = np.asarray(label)
    kinds = {given.dtype.kind, classes.dtype.kind}
    if given.ndim or not (len(kinds) == 1 or kinds <= set("biuf") or classes.dtype == object):
        raise ValueError(f"label of add_class of {name} must be like the classes {classes.tolist()}, got {label!r}.")
    if given.item() in classes.tolist():
        raise ValueError(f"label of add_class of {name} must be a new class, got {label!r}, which it already knows.")
    return given


def _samples(estimator: "BaseLVQ", X: Argument, y: Argument, classes: np.ndarray) -> ArraySamples:
    """Checked samples in memory."""
    return filled(samples_of_classes(estimator, X, y, None, classes, None))


def _stand_ins(places: np.ndarray, y: np.ndarray, new: ArraySamples, unit_length: bool) -> ArraySamples:
    """Stand-ins for old samples: spread around each place like new ones around their mean; classes count equally."""
    each = max(1, min(new.n_samples, MOST_OLD // len(places), LARGEST // places.size))
    mean, some = new.X.mean(axis=0), np.arange(len(places) * each) % new.n_samples
    X = np.repeat(places * np.linalg.norm(mean) if unit_length else places, each, axis=0)
    X += 0 if each == 1 else dense(new.X[some]) - mean
    weight = new.n_samples / each / np.bincount(y)[y]
    return ArraySamples(unit_rows(X) if unit_length else X, np.repeat(y, each), np.repeat(weight, each))


# -- metrics of prototypes ---------------------------------------------------------------------------------------------


def _new_metrics(before: Training, W: np.ndarray) -> np.ndarray | None:
    """Parameters of local metrics of new prototypes: mean weights, or the matrix of the nearest old prototype."""
    rule, params = before.state.relevance, before.params
    metric = rule.metric(before.labels)
    if params.relevance is None or not isinstance(metric, LocalMetric):
        return None
    if isinstance(metric, LocalDiagonal):
        if not rule.free_size:
            raise ValueError(
                "add_class needs local weights whose size is learned, as in LVQClassifier: if their sum is one, "
                "distances to new prototypes cannot be compared with others. Set a ridge, or fit a new model."
            )
        return np.repeat(params.relevance.mean(axis=0, keepdims=True), len(W), axis=0)
    nearest = metric.prepare(params.prototypes, params.relevance).distances(W)[0].argmin(axis=1)
    return params.relevance[metric.group[nearest]]


# -- training ----------------------------------------------------------------------------------------------------------


def _trained(training: Training, place: int, new: ArraySamples, rivals: ArraySamples, unit_length: bool) -> Training:
    """The new prototypes at a minimum of the cost of new samples and rivals, with everything else fixed."""
    fresh, params = training.labels == place, training.params
    if rivals.n_samples > MOST_OLD:
        metric = training.state.relevance.metric(training.labels)
        distances = metric.prepare(params.prototypes, params.relevance).distances(rivals.X)[0][:, fresh].min(axis=1)
        order, near, weight = np.argsort(distances, kind="stable"), MOST_OLD // 2, rivals.weight.copy()
        far = order[np.linspace(near, len(order) - 1, MOST_OLD - near).astype(int)]
        weight[far] *= (len(order) - near) / len(far)
        rivals = rivals._replace(weight=weight).take(np.concatenate((order[:near], far)))
    X = _together(new.X, rivals.X)
    centre = params.prototypes.mean(axis=0) * (0 if is_sparse(X) or unit_length else 1)
    y, weight = np.concatenate((new.y, rivals.y)), np.concatenate((new.weight, rivals.weight))
    samples = ArraySamples(X, y, weight).arranged(centre)
    unit = 1.0 if unit_length else float(np.sqrt(typical_variance(samples))) or 1.0  # the solver stops by gradients
    objective = training.objective(samples)
    if isinstance(objective.cost, MCECost | SNPCCost):
        objective = replace(objective, cost=UNBOUNDED[type(objective.cost)](objective.cost.alpha, objective.cost.xi))
    problem = Problem(objective, Relevance(), centre=centre if unit_length else None, unit=unit)
    W = ((params.prototypes - centre) / unit).astype(samples.dtype)

    def value(free: np.ndarray) -> tuple[float, np.ndarray]:
        W[fresh] = free.reshape(-1, W.shape[1])
        total, gradient = problem.value_and_gradient(Params(W, params.relevance), samples)
        return float(total), gradient.prototypes[fresh].astype(np.float64).ravel()

    start = W[fresh].astype(np.float64).ravel()
    found = minimize(value, start, jac=True, method="L-BFGS-B", options={"maxiter": CLASS_ITERATIONS}).x
    learned = params.prototypes.copy()
    moved = found.reshape(-1, W.shape[1])
    learned[fresh] = unit_rows(moved) if unit_length else moved * unit + centre
    return replace(training, params=params._replace(prototypes=learned))


def _together(one: Array, other: Array) -> Array:
    """All rows; sparse where the first ones are."""
    if is_sparse(one):
        return canonical(sparse.vstack([one, sparse.csr_array(other)], format="csr"))
    return np.concatenate((one, dense(other)))
