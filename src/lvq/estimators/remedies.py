"""What to do about samples that scikit-learn's checks refuse."""

from collections.abc import Iterator
from contextlib import contextmanager

from sklearn.base import BaseEstimator


@contextmanager
def with_remedies(estimator: BaseEstimator) -> Iterator[None]:
    """Errors about text and missing values inside name the estimator and what to do."""
    try:
        yield
    except ValueError as error:
        remedy = _remedy(estimator, str(error))
        if remedy is None:
            raise
        raise ValueError(remedy) from error


def _remedy(estimator: BaseEstimator, message: str) -> str | None:
    name = type(estimator).__name__
    if message.startswith("could not convert string"):
        return (
            f"{name} needs X of numbers, got text: {message}. Encode categories as numbers, for example by "
            "sklearn.preprocessing.OneHotEncoder in a ColumnTransformer; `lvq fit TABLE` does so itself."
        )
    if "contains NaN" not in message or not hasattr(estimator, "missing"):
        return None
    fill = "Fill them first, for example by sklearn.impute.SimpleImputer in a pipeline"
    if hasattr(estimator, "model_") and estimator.model_.variances is None:
        fill += ", or fit with missing='ignore'"
    elif not hasattr(estimator, "model_"):
        fill += f", or use {name}(missing='ignore'), which compares the observed features"
    return f"{message.splitlines()[0]} {name} does not accept missing values as it is set. {fill}."
