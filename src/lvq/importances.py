"""Importance of the variables of a pipeline's input: one number for each column of X, or for a group of columns.

The importance of `lvq.model.importance` needs the model's outputs and the values of a feature, no more. So it is
defined for a column of X, whatever the steps between X and the model do: numbers by a curve, categories by their means,
which is what all columns of a one-hot encoding explain together, and missing values by a column of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer

from lvq.estimators.found import need_model
from lvq.input_columns import Indices, Names, blocks, default_names, input_names, model_inputs, positions, sources
from lvq.model.importance import explained, of_sum_one, output_weighting
from lvq.model.output_moments import DEGREE, Curve, Outputs
from lvq.model.samples import ArraySamples
from lvq.typing import MatrixLike

Floats = NDArray[np.float64]


class VariableImportances(NamedTuple):
    """Importances of variables; all arrays have one entry for each."""

    names: Names
    importances: Floats  # of sum one
    explained: Floats  # fraction of the variance of the model's outputs that each alone explains


def variable_importances(
    estimator: BaseEstimator, X: MatrixLike, *, groups: Mapping[str, Sequence[str | int]] | None = None
) -> VariableImportances:
    """Importance of each column of X: the fraction of what the model decides by that the column alone explains.

    What the model decides by are its class probabilities and the differences of the distances to winner and rival. Of
    their variance over the samples, a number explains what a smooth curve explains, and a categorical variable what
    the means of its categories explain: all columns of its one-hot encoding are one variable. Where a variable has
    more than three degrees of freedom, what it would explain by chance beyond three is subtracted.

    The unit of a column does not count, so raw and standardised columns have the same importance for the same
    predictions. Without steps before the model and without categories, the result is that of `feature_importances_`
    if X are the training samples.

    Parameters
    ----------
    estimator : estimator
        Fitted model of this library, alone or in a Pipeline, a search or a RejectClassifier.
    X : array-like of shape (n_samples, n_columns)
        Samples, as the estimator takes them; best the training samples.
    groups : mapping of str to sequence of str or int, optional
        Columns that are one variable, by the name of the variable: their names or indices. All others stay alone.

    Returns
    -------
    importances : VariableImportances
        Named tuple of `names`, `importances` (of sum one) and `explained`. Columns that do not reach the model have 0.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lvq import GMLVQ, variable_importances
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = make_pipeline(StandardScaler(), GMLVQ(random_state=0)).fit(X, y)
    >>> found = variable_importances(model, X, groups={"sepal": [0, 1], "petal": [2, 3]})
    >>> found.names.tolist(), bool(found.importances[1] > 0.5)
    (['sepal', 'petal'], True)
    """
    found = need_model(estimator, "variable_importances")
    inputs = model_inputs(found, X)
    n = inputs.shape[0]
    samples = ArraySamples(inputs, np.zeros(n, dtype=np.intp), np.ones(n))
    kept = Outputs.uncalibrated(found.model).most_frequent(samples, n)
    outputs, pair = kept.of(inputs)
    first = found.steps[0] if found.steps else found.estimator
    names = input_names(first) if hasattr(first, "n_features_in_") else default_names(np.shape(X)[1])
    used = used_columns(found.steps, found.model.n_features, len(names))
    centred = outputs - outputs.mean(axis=0)
    weighting = output_weighting(centred.T @ centred / n, kept.pair_weights(pair, np.full(n, 1 / n)), len(kept.classes))
    variables, values = _variables(groups, names), np.zeros(0)
    for columns in variables.values():
        design = [_design(_column(X, column)) for column in columns if used[column]]
        values = np.append(values, _explained(np.hstack(design), centred, weighting) if design else 0.0)
    return VariableImportances(np.array(list(variables), dtype=np.str_), of_sum_one(values), values)


def used_columns(steps: Sequence[BaseEstimator], n_outputs: int, n_columns: int) -> NDArray[np.bool_]:
    """Which input columns of some steps reach their output; all of a step whose columns cannot be followed."""
    if not all(hasattr(step, "n_features_in_") for step in steps):
        return np.ones(n_columns, dtype=bool)
    return _used(steps, np.ones(n_outputs, dtype=bool))


def _used(steps: Sequence[BaseEstimator], reaches: NDArray[np.bool_]) -> NDArray[np.bool_]:
    for step in reversed(steps):
        before = np.zeros(step.n_features_in_, dtype=bool)
        if isinstance(step, ColumnTransformer):
            for block in blocks(step):
                inside = _used(block.steps, reaches[block.output])
                before[block.columns[inside] if len(inside) == len(block.columns) else block.columns] = True
        else:
            source = sources(step)
            followed = source is not None and len(source) == len(reaches)
            before[source[reaches] if followed and source is not None else slice(None)] = True
        reaches = before
    return reaches


def _variables(groups: Mapping[str, Sequence[str | int]] | None, names: Names) -> dict[str, Indices]:
    """Columns of each variable by its name, in the order of their first columns."""
    taken: dict[int, tuple[str, Indices]] = {}
    for name, asked in (groups or {}).items():
        try:
            columns = positions(list(asked), names)
        except (KeyError, IndexError) as error:
            raise ValueError(
                f"groups of variable_importances must name columns of X, got {error} in {name!r}."
            ) from None
        if not len(columns) or any(int(column) in taken for column in columns):
            raise ValueError(
                f"groups of variable_importances must have columns that are in no other group, got {list(asked)!r} for "
                f"{name!r}."
            )
        taken |= {int(column): (str(name), columns) for column in columns}
    single = {column: (str(name), np.array([column])) for column, name in enumerate(names)}
    return dict((single | taken)[column] for column in range(len(names)))


def _column(X: MatrixLike, column: int) -> ArrayLike:
    if sparse.issparse(X):
        return X[:, [column]].toarray().ravel()
    return X.iloc[:, column] if hasattr(X, "iloc") else np.asarray(X)[:, column]


def _design(column: ArrayLike) -> Floats:
    """What a column can explain: powers of the squashed numbers, or categories; and a column of missing values."""
    values = np.asarray(column)
    if values.dtype.kind not in "fiub":
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError):
            return _categories(values)
    values = values.astype(np.float64)
    missing = np.isnan(values)
    if missing.all():
        return np.zeros((len(values), 1))
    mean = values[~missing].mean()
    curve = Curve(np.array([mean]), np.array([_deviation(values[~missing], mean)]))
    t = curve.squashed(np.where(missing, mean, values)[:, None])
    design = np.hstack([t**exponent for exponent in range(1, DEGREE + 1)])
    return np.column_stack([design, missing]) if missing.any() else design


def _deviation(values: Floats, mean: float) -> float:
    deviation = float(np.sqrt(np.mean((values - mean) ** 2)))
    return deviation if deviation > 1e-14 * abs(mean) else 0.0  # rounding


def _categories(values: NDArray[np.object_]) -> Floats:
    """A column for each category; anything that is not equal to itself is missing, a category too."""
    texts = np.array([str(value) if value == value else "\0missing" for value in values.tolist()])
    categories, index = np.unique(texts, return_inverse=True)
    return np.eye(len(categories))[index]


def _explained(design: Floats, centred: Floats, weighting: Floats) -> float:
    """Fraction of the outputs' variance that the columns explain together, less what they explain by chance."""
    design, n = design - design.mean(axis=0), len(design)
    fraction, freedom = (float(value) for value in explained(design.T @ design / n, design.T @ centred / n, weighting))
    surplus = max(0.0, freedom - DEGREE)
    if n - freedom <= 1:
        return fraction if not surplus else 0.0
    return max(0.0, fraction - surplus * (1 - fraction) / (n - freedom - 1))
