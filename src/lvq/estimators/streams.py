"""Streams and warm starts: what continues a fitted model, and whether the parts still fit it."""

from dataclasses import replace
from typing import TYPE_CHECKING

import joblib
import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing, check_random_state, column_or_1d
from sklearn.utils.validation import _check_sample_weight, check_consistent_length

from lvq.estimators.inputs import check_classes, is_dask, samples_of_classes
from lvq.estimators.specification import PENALTIES, Parts, check_for_samples
from lvq.estimators.training import Training, metric_for
from lvq.model.links import Kernel
from lvq.model.metrics import LocalMetric
from lvq.model.objective import Params
from lvq.model.relevance import Relevance
from lvq.model.rows import as_numpy
from lvq.model.samples import ArraySamples, FeatureMoments
from lvq.solvers.state import MIN_UNIT_SAMPLES, mean_units, new_statistics, spread_of, stretched
from lvq.typing import Argument

if TYPE_CHECKING:
    from lvq.estimators.base import BaseLVQ


def next_batch(
    estimator: "BaseLVQ", parts: Parts, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None, weight: ArrayLike | None
) -> tuple[Training, ArraySamples, np.ndarray]:
    """The model before a batch of a stream, the samples of the batch, and all classes."""
    first = not hasattr(estimator, "model_")
    _check_stream(estimator, X)
    if not first and classes is None:
        X, y, weight = _add_unseen(estimator, X, y, weight)
    known = _known_classes(estimator, classes, first)
    if not first:
        check_unchanged(estimator, parts, known, stream=True)
    samples = samples_of_classes(estimator, X, y, weight, known, estimator.class_weight)
    if first:
        check_for_samples(estimator, parts, samples, len(known))
        random_state = check_random_state(estimator.random_state)
        return estimator._begin(parts, samples, known, random_state, stream=True), samples, known
    before = estimator._training()
    training = with_moments(replace(before, state=replace(before.state, cost=parts.cost)), samples)
    training = _with_new_classes(estimator, parts, training, samples, known)
    return _with_units(training, parts, samples), samples, known


def _known_classes(estimator: "BaseLVQ", classes: ArrayLike | None, first: bool) -> np.ndarray:
    """All classes of a stream, as its first call names them."""
    name = type(estimator).__name__
    given = None if classes is None else np.unique(as_numpy(classes))
    if not first:
        if given is not None and not np.array_equal(given, estimator.classes_):
            raise ValueError(
                f"classes={classes!r} is not the same as on the first call to {name}.partial_fit: "
                f"{estimator.classes_.tolist()!r}."
            )
        return estimator.classes_
    if given is None:
        raise ValueError(f"classes must be passed on the first call to {name}.partial_fit.")
    check_classes(estimator, given)
    return given


def _add_unseen(estimator: "BaseLVQ", X: Argument, y: Argument, weight: Argument) -> tuple[Argument, ...]:
    """Classes that no call has named get prototypes as by `add_class`; their rows of weight 0 are left out."""
    y = column_or_1d(as_numpy(y))
    check_consistent_length(X, y)
    weight = _check_sample_weight(as_numpy(weight), y)
    counts, unseen = weight != 0, ~np.isin(y, estimator.classes_)
    for label in np.unique(y[unseen & counts]):
        estimator.add_class(_safe_indexing(X, np.flatnonzero((y == label) & counts)), label)
    kept = np.flatnonzero(counts | ~unseen)
    return (X, y, weight) if len(kept) == len(y) else (_safe_indexing(X, kept), y[kept], weight[kept])


def with_moments(training: Training, samples: ArraySamples) -> Training:
    """The samples of a warm start or of a stream count in the variances of the features, where values are missing."""
    state = training.state
    if state.moments is None:
        return training
    moments = state.moments + samples.reduce(FeatureMoments.of, samples.block_rows())
    return replace(training, state=replace(state, moments=moments, variances=moments.variances()))


def _with_units(training: Training, parts: Parts, samples: ArraySamples) -> Training:
    """The units of a stream, measured on its first samples: a first batch may have no spread at all."""
    state, params, link = training.state, training.params, training.link
    if state.units.samples >= MIN_UNIT_SAMPLES:
        return training
    metric = metric_for(state.relevance.metric(training.labels), samples, state.variances)
    if isinstance(link, Kernel) and isinstance(parts.kernel, Kernel) and parts.kernel.width == "auto":
        here = spread_of(metric, params, samples)
        total = state.units.samples + here.samples
        spread = state.units.samples * float(link.width) ** 2 + here.samples * here.step
        width = float(link.width) if total == 0 else float(np.sqrt(spread / total))
        link, params = link.with_width(width), params._replace(width=width)
    units = stretched(spread_of(metric, params, samples, link), state.relevance, params)
    return replace(training, params=params, link=link, state=replace(state, units=mean_units(state.units, units)))


def _with_new_classes(
    estimator: "BaseLVQ", parts: Parts, training: Training, samples: ArraySamples, classes: np.ndarray
) -> Training:
    """Prototypes for classes that are new in a stream; the other classes keep their prototypes and statistics."""
    new = ~np.isin(samples.y, training.labels)
    if not new.any():
        return training
    state = training.state
    default = None if state.moments is None else state.moments.mean
    W, labels = estimator._start_prototypes(samples.take(new), classes, state.random_state, default)
    own = None
    if isinstance(state.relevance.metric(labels), LocalMetric):
        own = of_prototypes(state.relevance, labels, state.relevance.start(samples, labels, stream=True))
    return with_prototypes(training, parts, W, labels, own, np.arange(len(classes)), len(classes))


def of_prototypes(
    rule: Relevance, labels: np.ndarray, R: np.ndarray | None, which: np.ndarray | slice = slice(None)
) -> np.ndarray | None:
    """Parameters of the metric: for each chosen prototype where they are local, otherwise the shared ones."""
    metric = rule.metric(labels)
    return R[metric.group[which]] if R is not None and isinstance(metric, LocalMetric) else R


def of_groups(rule: Relevance, labels: np.ndarray, R: np.ndarray | None) -> np.ndarray | None:
    """Parameters of the metric from parameters for all prototypes."""
    metric = rule.metric(labels)
    return R[list(metric.groups[:-1])] if R is not None and isinstance(metric, LocalMetric) else R


def with_prototypes(
    training: Training,
    parts: Parts,
    W: np.ndarray,
    labels: np.ndarray,
    own: np.ndarray | None,
    known: np.ndarray,
    n_classes: int,
) -> Training:
    """A model with further prototypes, class by class, each with parameters of its own where the metric is local.

    `known` are the classes it had before.
    """
    params, state = training.params, training.state
    every = np.concatenate((training.labels, labels))
    order = np.argsort(every, kind="stable")
    kept, relevance = np.flatnonzero(order < len(training.labels)), params.relevance
    if own is not None:
        old = of_prototypes(state.relevance, training.labels, relevance)
        assert old is not None
        relevance = of_groups(state.relevance, every[order], np.concatenate((old, own))[order])
    starts = None if state.starts is None else np.concatenate((state.starts, W))[order]
    W = np.concatenate((params.prototypes, W))[order]
    statistics = new_statistics(state.relevance, parts.cost, W.shape, n_classes, parts.online.learning_rate)
    for name, before in state.statistics._asdict().items():
        if len(before):  # of the whole, of the classes, or of the prototypes
            getattr(statistics, name)[slice(None) if name == "scores" else known if name == "seen" else kept] = before
    state = replace(state, statistics=statistics, starts=starts)
    return replace(training, params=Params(W, relevance, params.width), labels=every[order], state=state)


# -- checks ------------------------------------------------------------------------------------------------------------


def check_unchanged(estimator: BaseEstimator, parts: Parts, classes: np.ndarray, *, stream: bool) -> None:
    """A warm start and a stream continue the fitted model: raise ValueError for parts that do not fit it."""
    name, call = type(estimator).__name__, "partial_fit" if stream else "warm_start=True"
    model, state = estimator.model_, estimator._state
    if not np.array_equal(classes, model.classes):
        raise ValueError(
            f"{call} of {name} needs the classes of the first fit, {model.classes.tolist()}; got {classes.tolist()}. "
            "Set warm_start=False to start again."
        )
    before, now = dict(state.start), dict(parts.start)
    changed = [repr(key) for key in now if joblib.hash(now[key]) != joblib.hash(before[key])]
    if _shape_of(parts.relevance) != _shape_of(state.relevance):
        changed.append("'relevance'")
    elif not parts.relevance.free_size and state.relevance.free_size:
        changed.append("'solver' or 'ridge'")  # units measured without unit size do not fit unit size
    if stream and type(parts.cost) is not type(state.cost):
        changed.append("'cost'")
    if changed:
        raise ValueError(
            f"{call} of {name} continues the model of the last fit, but {', '.join(changed)} has changed. "
            "Set it back, or call fit without a warm start."
        )


def _shape_of(relevance: Relevance) -> Relevance:
    """A rule without the size and the penalties of its metric, which may change between fits."""
    usual = type(relevance)().get_params()
    return replace(relevance, **{name: usual[name] for name in (*PENALTIES, "feature_groups") if name in usual})


def _check_stream(estimator: BaseEstimator, X: ArrayLike) -> None:
    """Raise an error for what needs all samples at once."""
    name = type(estimator).__name__
    if is_dask(X):
        raise TypeError(
            f"{name}.partial_fit needs samples in memory, got a dask collection. Give the partitions one after another."
        )
    for parameter, value in (("n_prototypes", "auto"), ("class_weight", "balanced")):
        if getattr(estimator, parameter) == value:
            raise ValueError(
                f"{parameter}={value!r} of {name} needs all samples at once, which partial_fit does not have. Use fit, "
                "or set it to another value."
            )
