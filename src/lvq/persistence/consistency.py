"""Whether a loaded model holds together: every model of this library in it, what surrounds it, and their shapes.

A checksum finds damage. It does not find a file made by hand, or by a version that stored other things; a model that
would answer wrongly, or fail later, is refused here. Each check gives a sentence's end, or nothing.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.pipeline import Pipeline

from lvq.estimators.base import BaseLVQ
from lvq.model.links import Kernel
from lvq.model.metrics import Diagonal, Euclidean, LocalMatrix, Matrix
from lvq.model.objective import Params
from lvq.rejection.classifier import RejectClassifier
from lvq.rejection.measures import Combination
from lvq.rejection.path import ThresholdPath
from lvq.rejection.point import CellThresholds, OperatingPoint
from lvq.solvers.online import Memory, Units

# arrays of scikit-learn's transformers whose last axis is that of the features
PER_FEATURE = ("mean_", "var_", "scale_", "min_", "center_", "data_min_", "data_max_", "max_abs_", "components_")


def problem(model: Any) -> str:
    """What is wrong with a loaded object; an empty string where nothing is.

    Examples
    --------
    >>> from lvq import GLVQ
    >>> model = GLVQ(init=[[0.0], [4.0]], learning_rate=0).fit([[0], [4]], ["left", "right"])
    >>> problem(model)
    ''
    >>> model.prototypes_[0] = float("nan")
    >>> problem(model)
    'GLVQ has prototypes that are not finite numbers'
    """
    if not isinstance(model, BaseEstimator) or isinstance(model, type):
        return f"it holds no estimator but {type(model).__name__}"
    for part in parts_of(model):
        for kind, check in CHECKS.items():
            if isinstance(part, kind):
                try:
                    found = check(part)
                except Exception as error:  # a thing that lacks what it should have, in whatever way
                    found = f"does not hold together ({type(error).__name__}: {error})"
                if found:
                    return f"{type(part).__name__} {found}"
    return ""


def parts_of(root: Any) -> Iterator[Any]:
    """Everything inside an object, itself first; each thing once."""
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        part = waiting.pop()
        if id(part) in seen or isinstance(part, str | bytes | int | float | np.ndarray | None):
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, list | tuple | set):
            waiting += part
        elif hasattr(part, "__dict__") and not isinstance(part, type):
            waiting += vars(part).values()


def _parameters(estimator: Any) -> str:
    """Parameters that `fit` would refuse."""
    if hasattr(estimator, "_parameter_constraints"):
        estimator._validate_params()
    return ""


# -- models ------------------------------------------------------------------------------------------------------------


def _model(model: Any) -> str:
    if not hasattr(model, "prototypes_"):
        learned = [name for name in vars(model) if name.endswith("_") or name == "_params"]
        return f"has {learned[0]} but no prototypes" if learned else ""
    classes, labels, params = model.classes_, model._labels, model._params
    if not isinstance(params, Params) or not _is_array(classes, 1, "biufSUO") or len(classes) < 1:
        return "has no classes"
    if not _is_array(params.prototypes, 2, "f") or not len(params.prototypes):
        return "has no prototypes"
    count, features = params.prototypes.shape
    if not np.isfinite(params.prototypes).all():
        return "has prototypes that are not finite numbers"
    if model.n_features_in_ != features or not _same(model.prototypes_, params.prototypes):
        return f"has prototypes of {features} features for samples of {model.n_features_in_}"
    if not _is_array(labels, 1, "iu") or labels.shape != (count,) or (np.diff(labels) < 0).any():
        return "has labels that do not fit its prototypes"
    if labels[0] < 0 or labels[-1] >= len(classes) or not _same(model.prototype_labels_, classes[labels]):
        return "has labels that do not fit its classes"
    names = getattr(model, "feature_names_in_", None)
    if names is not None and (not _is_array(names, 1, "O") or len(names) != features):
        return "has names for another number of features"
    return _metric(model, count, features) or _link(model) or _memory(model, count, features)


def _metric(model: Any, count: int, features: int) -> str:
    R, metric = model._params.relevance, model._metric
    if type(metric) not in (Euclidean, Diagonal, Matrix, LocalMatrix):
        return "" if callable(getattr(metric, "distances", None)) else "has no metric"  # else one that is trusted
    if isinstance(metric, Euclidean):
        return "" if R is None else "has relevances that its metric does not know"
    axes = {Diagonal: 1, Matrix: 2, LocalMatrix: 3}[type(metric)]
    shown = model.relevances_ if axes == 1 else model.omega_
    if not _is_array(R, axes, "f") or not R.size or R.shape[-1] != features or not np.isfinite(R).all():
        return f"has relevances that do not fit its {features} features"
    if not _same(shown, R):
        return "shows other relevances than it uses"
    if isinstance(metric, Diagonal):
        return "has negative relevances" if (R < 0).any() else ""
    if isinstance(metric, LocalMatrix):
        groups = metric.groups
        whole = isinstance(groups, tuple) and all(isinstance(group, int) for group in groups)
        if not whole or groups[0] != 0 or groups[-1] != count or (np.diff(groups) < 1).any():
            return "has matrices for other groups of prototypes"
        if len(R) != len(groups) - 1:
            return "has another number of matrices than groups"
    return ""


def _link(model: Any) -> str:
    width, units = model._params.width, model._units
    if not isinstance(units, Units) or not all(np.isfinite(unit) and unit > 0 for unit in units):
        return "has units that are not positive numbers"
    if isinstance(model._link, Kernel):
        if width is None or not 0 < width < np.inf or model._link.width != model.kernel_width_:
            return "has a kernel without a width"
        shape = getattr(model._link, "shape", 1.0)
        return "" if 0 < shape < np.inf else "has a kernel without a shape"
    return "" if width is None and callable(model._link.value) else "has a width without a kernel"


def _memory(model: Any, count: int, features: int) -> str:
    """The compiled solver trusts these shapes."""
    memory = model._memory
    if not isinstance(memory, Memory) or not np.isfinite(memory.step):
        return "has no memory to learn on by"
    sizes = {
        "wins": (count,),
        "seen": (len(model.classes_),),
        "mean": (count, features),
        "scatter": (count, features),
        "scores": (1,),
        "rates": (count,),
    }
    for name, shape in sizes.items():
        values = getattr(memory.statistics, name)
        empty = values.size == 0 and values.ndim == len(shape) and name != "scores"
        if values.dtype != np.float64 or not (empty or values.shape == shape) or not np.isfinite(values).all():
            return f"has statistics ({name}) that do not fit its prototypes"
    return ""


# -- around the models -------------------------------------------------------------------------------------------------


def _reject(model: RejectClassifier) -> str:
    if not hasattr(model, "estimator_"):
        return ""
    if not (hasattr(model.estimator_, "predict") and hasattr(model.estimator_, "classes_")):
        return "has no estimator that answers"
    points = model.point_.values() if isinstance(model.point_, dict) else [model.point_]
    if not all(isinstance(point, OperatingPoint | None) for point in points):
        return "has no operating point"
    if not all(point is None or _fits(point) for point in points):
        return "has thresholds that do not fit its cells"
    limits = model.outlier_limits_
    if limits is not None and not (isinstance(limits, CellThresholds) and _fits(limits)):
        return "has limits of outliers that are no numbers"
    if not isinstance(model.measure_, Combination) or (limits is None) != (model.measure_.outlier is None):
        return "has limits of outliers that do not fit its measure"
    return ""


def _fits(point: CellThresholds) -> bool:
    return (
        _is_array(point.thresholds, 1, "f")
        and len(point.cells) == len(point.thresholds)
        and not np.isnan(point.thresholds).any()
        and isinstance(point.unseen, float)
        and not np.isnan(point.unseen)
    )


def _path(path: ThresholdPath) -> str:
    steps = path.steps
    arrays = (path.rejected_correct, path.rejected_errors, path.pool, steps.point, steps.pool, steps.threshold)
    if not all(isinstance(array, np.ndarray) and array.ndim == 1 for array in arrays):
        return "has no points"
    whole = len(path.rejected_correct) == len(path.rejected_errors) and len(path.pool) == len(path.cells)
    if not whole or not len(steps.point) == len(steps.pool) == len(steps.threshold):
        return "has counts that do not fit its points"
    inside = (steps.point >= 0).all() and (steps.point < len(path)).all() and (path.pool >= 0).all()
    if not inside or not np.array_equal(np.unique(steps.pool), np.arange(path.n_pools)):
        return "has steps outside its points"
    return ""


def _pipeline(pipeline: Pipeline) -> str:
    """Steps in a row, each with the number of features that the one before gives, where that is known."""
    pairs = isinstance(pipeline.steps, list) and all(isinstance(s, tuple) and len(s) == 2 for s in pipeline.steps)
    if not pairs or not pipeline.steps:
        return "has no steps"
    given = None
    for name, step in pipeline.steps:
        if step is None or isinstance(step, str):
            continue
        taken = getattr(step, "n_features_in_", None)
        if given is not None and taken is not None and given != taken:
            return f"has a step {name!r} for {taken} features that is given {given}"
        known = taken if isinstance(step, OneToOneFeatureMixin) else getattr(step, "_n_features_out", None)
        given = known if isinstance(known, int | np.integer) else None
    return ""


def _transformer(step: Any) -> str:
    """Arrays with an entry for each feature."""
    features = vars(step).get("n_features_in_")
    for name in PER_FEATURE if features is not None else ():
        values = vars(step).get(name)
        if isinstance(values, np.ndarray) and values.ndim and values.shape[-1] != features:
            return f"has {name} of shape {values.shape} for {features} features"
    return ""


def _is_array(values: Any, axes: int, kinds: str) -> bool:
    return isinstance(values, np.ndarray) and values.ndim == axes and values.dtype.kind in kinds


def _same(one: Any, other: Any) -> bool:
    return one is other or (
        isinstance(one, np.ndarray) and one.dtype == other.dtype and np.array_equal(one, other, equal_nan=False)
    )


CHECKS: dict[type, Callable[[Any], str]] = {
    BaseEstimator: _parameters,
    BaseLVQ: _model,
    RejectClassifier: _reject,
    ThresholdPath: _path,
    Pipeline: _pipeline,
    TransformerMixin: _transformer,
}
