"""Whether a loaded estimator is consistent: its parameters, its fitted model, its training state, its steps.

A checksum detects damage, but not a file that was made by hand. `PrototypeModel` validates itself.
"""

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.pipeline import Pipeline

from lvq.estimators.checks import check_part
from lvq.estimators.registry import estimator_types
from lvq.model.prototype_model import PrototypeModel
from lvq.model.samples import FeatureMoments
from lvq.rejection.classifier import RejectClassifier
from lvq.rejection.path import ThresholdPath
from lvq.solvers.state import Statistics, TrainingState, new_statistics

# arrays of scikit-learn's transformers whose last axis is that of the features
FEATURE_ATTRIBUTES = (
    "mean_", "var_", "scale_", "min_", "center_", "data_min_", "data_max_", "max_abs_", "components_", "directions_",
    "patterns_",
)  # fmt: skip


def require(condition: object, problem: str) -> None:
    """Raise a ValueError where a condition does not hold."""
    if not condition:
        raise ValueError(problem)


def check(estimator: BaseEstimator) -> None:
    """Raise a ValueError where an estimator is not consistent; other objects pass."""
    if hasattr(estimator, "_parameter_constraints"):
        estimator._validate_params()
        for part in estimator.get_params(deep=False).values():
            check_part(part)
    if isinstance(estimator, tuple(estimator_types().values())):
        _check_model(estimator)
    if isinstance(estimator, RejectClassifier) and hasattr(estimator, "estimator_"):
        _check_rejection(estimator)
    if isinstance(estimator, Pipeline):
        _check_steps(estimator.steps)
    if isinstance(estimator, TransformerMixin):
        for name in FEATURE_ATTRIBUTES:
            shape, n_features = np.shape(vars(estimator).get(name, 0)), vars(estimator).get("n_features_in_")
            fits = not shape or n_features is None or shape[-1] == n_features
            require(fits, f"{type(estimator).__name__} has {name} of shape {shape} for {n_features} features")


def _check_model(estimator: BaseEstimator) -> None:
    fitted = set(vars(estimator)) - set(estimator.get_params(deep=False)) - {"_metadata_request"}
    if not fitted:
        return
    name, model = type(estimator).__name__, estimator.model_
    require(isinstance(model, PrototypeModel), f"{name} has no fitted model")
    names = model.classes.tolist()
    require(names == sorted(names), f"{name} has classes that do not ascend")  # labels are found by bisection
    sizes = [estimator.n_features_in_, *np.shape(getattr(estimator, "feature_names_in_", 0))]
    require(set(sizes) == {model.n_features}, f"{name} has prototypes of {model.n_features} features for {sizes[0]}")
    if isinstance(vars(estimator).get("best_estimator_"), BaseEstimator):
        return  # a search: the training state is that of the best estimator
    state = vars(estimator).get("_state")
    require(isinstance(state, TrainingState), f"{name} has no training state")
    check_state(state, model)


def check_state(state: TrainingState, model: PrototypeModel) -> None:
    """Raise a ValueError where the sizes of a training state do not fit the model; compiled loops rely on them."""
    expected = new_statistics(state.relevance, state.cost, model.prototypes.shape, len(model.classes), 0.0)
    for name, values, wanted in zip(Statistics._fields, state.statistics, expected):
        fits = values.dtype == np.float64 and values.shape == wanted.shape and np.isfinite(values).all()
        require(fits, f"statistics ({name}) that do not fit the prototypes")
    require(state.relevance.metric(model.labels) == model.metric, "a relevance rule that does not fit its metric")
    ours, theirs = state.variances, model.variances
    same = ours is theirs if ours is None or theirs is None else np.array_equal(ours, theirs)
    require(same, "variances of the features that are not those of its model")
    if state.moments is not None:
        require(_fit_together(state.moments, ours), "moments of the features that do not fit its variances")
    starts = state.starts
    fits = starts is None or (starts.shape == model.prototypes.shape and np.isfinite(starts).all())
    require(fits, "starting prototypes that do not fit its model")
    units = all(0 < unit < np.inf for unit in state.units[:2])
    require(units and 0 <= state.step < np.inf, "a number of steps or units that are not valid")


def _fit_together(moments: FeatureMoments, variances: np.ndarray | None) -> bool:
    """Whether these are moments with the given variances."""
    if variances is None or not isinstance(moments, FeatureMoments):
        return False
    finite = np.isfinite(np.stack(moments)).all() and (moments.mass >= 0).all()
    return bool(finite) and np.array_equal(moments.variances(), variances)


def _check_rejection(model: RejectClassifier) -> None:
    fits = hasattr(model.estimator_, "predict") and hasattr(model.estimator_, "classes_")
    require(fits, "RejectClassifier has no estimator that predicts")
    for point in (model.outlier_limits_, model.point_):
        if point is not None:
            fits = np.shape(point.thresholds) == np.shape(point.cells) == (len(point.cells),)
            fits = fits and not np.isnan([*point.thresholds, point.unseen]).any()
            require(fits, "RejectClassifier has thresholds that do not fit its cells")
    _check_path(model.path_)


def _check_path(path: ThresholdPath) -> None:
    shape = np.shape(path.pool_thresholds)
    fits = len(shape) == 2 and np.shape(path.rejected_correct) == np.shape(path.rejected_errors) == shape[:1]
    fits = fits and np.shape(path.pool) == np.shape(path.cells) == (len(path.cells),)
    fits = fits and bool((path.pool >= 0).all() and (path.pool < shape[1]).all())
    require(fits, "ThresholdPath has thresholds that do not fit its points and cells")


def _check_steps(steps: list[tuple[str, BaseEstimator | str | None]]) -> None:
    """Steps in sequence, each with the number of features that the one before gives, where that is known."""
    require(steps and all(isinstance(step, tuple) and len(step) == 2 for step in steps), "Pipeline has no steps")
    given = None
    for name, step in steps:
        if step is None or isinstance(step, str):
            continue
        taken = getattr(step, "n_features_in_", None)
        fits = given is None or taken is None or given == taken
        require(fits, f"Pipeline has a step {name!r} for {taken} features that is given {given}")
        known = taken if isinstance(step, OneToOneFeatureMixin) else getattr(step, "_n_features_out", None)
        given = known if isinstance(known, int | np.integer) else None
