"""Whether a loaded estimator is consistent: its parameters, its fitted model, its training state, its transformers.

A checksum detects damage, but not a file that was made by hand, whose sizes compiled loops would trust. Parts such as
`PrototypeModel` and `OperatingPoint` validate themselves.
"""

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import OneHotEncoder

from lvq.estimators.registry import estimator_types
from lvq.estimators.specification import check_part
from lvq.model.prototype_model import PrototypeModel
from lvq.solvers.state import TrainingState, state_problem

# arrays of scikit-learn's transformers whose last axis is the features
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
    columns = sorted(vars(estimator).get("vocabulary_", {}).values())  # of a CountVectorizer and the like
    require(columns == list(range(len(columns))), f"{type(estimator).__name__} has a word without a column")
    if isinstance(estimator, OneHotEncoder) and "categories_" in vars(estimator):
        _check_encoder(estimator)
    if isinstance(estimator, TransformerMixin):
        for name in FEATURE_ATTRIBUTES:
            shape, n_features = np.shape(vars(estimator).get(name, 0)), vars(estimator).get("n_features_in_")
            fits = not shape or n_features is None or shape[-1] == n_features
            require(fits, f"{type(estimator).__name__} has {name} of shape {shape} for {n_features} features")


def _check_encoder(encoder: OneHotEncoder) -> None:
    """Raise a ValueError where a category has no column: products of sparse rows check no indices."""
    n_features = len(encoder.categories_)
    drops = encoder._drop_idx_after_grouping if encoder._drop_idx_after_grouping is not None else [None] * n_features
    rare, mappings = [None] * n_features, [None] * n_features
    if encoder._infrequent_enabled:
        rare, mappings = encoder._infrequent_indices, encoder._default_to_infrequent_mappings
    features = zip(encoder.categories_, rare, mappings, drops, encoder._n_features_outs, strict=True)
    for names, unknown, mapping, dropped, width in features:
        codes = np.append(np.arange(len(names)), [] if unknown is None else unknown).astype(np.int64)
        codes = codes if mapping is None else mapping[codes]
        codes = codes if dropped is None else np.where(codes > dropped, codes - 1, codes)[codes != dropped]
        require(width >= 0 and np.all((codes >= 0) & (codes < width)), "OneHotEncoder has a category without a column")


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
        return  # a search: the best estimator has the training state
    state = vars(estimator).get("_state")
    require(isinstance(state, TrainingState), f"{name} has no training state")
    problem = state_problem(state, model)  # compiled loops rely on its sizes
    require(not problem, problem)
