"""Importance of the variables of a pipeline's input: one number for each column of X.

The importance of `lvq.model.importance` needs the model's outputs and the values of a feature, no more. So it is
defined for a column of X, whatever the steps between X and the model do: numbers by a curve, categories by their means,
which is what all columns of a one-hot encoding explain together, and missing values by a column of their own.

Refits to random halves of the samples show how sure importances are. The halves are drawn in complementary pairs, class
by class. A mean over half of n samples differs from the mean over all n with the variance s^2/n, and so does the mean
of n new samples from its expectation. So the root mean square difference between the importances of the halves and of
all samples is the standard error of an importance, as far as an importance behaves like a mean. It does not where
training selects features: if features are alike, one data set gives all importance to a few of them, and another to
others. A feature that was not selected then varies little in all refits, far from its expectation. Therefore no
variable has a standard error below the root mean square over all variables. In data with eight exchangeable features
(N = 200 and 1,000; weak and strong differences of the classes, independent and correlated features; GRLVQ and GMLVQ;
100 data sets each) 90 % intervals from 40 refits held the expectation in 91 to 99 % of the cases, and some feature was
called important in at most 6 % of the data sets.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.stats import t
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, check_random_state, check_scalar, indexable
from sklearn.utils.validation import column_or_1d

from lvq.estimators.classifier import as_chosen
from lvq.estimators.find_model import FoundModel, need_model
from lvq.inspection.columns import is_missing, model_inputs, used_columns
from lvq.inspection.mixed_rows import Layout, cells_of, numbers_of
from lvq.inspection.steps import Indices, Names
from lvq.model.importance import DEGREE, Curve, Outputs, explained, of_sum_one, output_weighting
from lvq.model.samples import ArraySamples
from lvq.typing import Floats, Labels, MatrixLike

# most iterations of a refit: importances settle long before the cost does. With 30 instead of 100, the intervals on
# german and WDBC differ by at most 0.01
REFIT_ITERATIONS = 30


@dataclass(frozen=True, eq=False)
class VariableImportances:
    """Importances of variables; all arrays have one entry for each variable, in the order of the columns.

    Attributes
    ----------
    names : ndarray of str
        Names of the variables.
    importances : ndarray
        Importances, of sum one.
    explained : ndarray
        Fraction of the variance of the model's outputs that each variable explains alone.
    confidence : float
        Confidence of each interval.
    resampled : ndarray of shape (n_resamples, n_variables)
        Importances of each refit; without rows where none was asked for.
    refits : sequence of estimator
        The model and the steps before it, fitted to each half, not calibrated.
    """

    names: Names
    importances: Floats
    explained: Floats
    confidence: float
    resampled: Floats
    refits: Sequence[BaseEstimator] = field(default=(), repr=False)

    @property
    def error(self) -> Floats:
        """Standard error of each importance; infinite without refits."""
        if not len(self.resampled):
            return np.full(len(self.names), np.inf)
        squares = ((self.resampled - self.importances) ** 2).mean(axis=0)
        return np.sqrt(np.maximum(squares, squares.mean()))

    def _ends(self, confidence: float) -> tuple[Floats, Floats]:
        away = t.ppf((1 + confidence) / 2, max(1, len(self.resampled) - 1)) * self.error
        return np.clip(self.importances - away, 0, 1), np.clip(self.importances + away, 0, 1)

    @property
    def lower(self) -> Floats:
        """Lower ends of the intervals; 0 without refits."""
        return self._ends(self.confidence)[0]

    @property
    def upper(self) -> Floats:
        """Upper ends of the intervals; 1 without refits."""
        return self._ends(self.confidence)[1]

    @property
    def important(self) -> NDArray[np.bool_]:
        """Which variables are above the mean importance by more than chance, at the confidence for all together."""
        together = self._ends(1 - (1 - self.confidence) / len(self.names))[0]
        return np.asarray(together > 1 / len(self.names))

    @property
    def order(self) -> Indices:
        """Indices of the variables, the most important first."""
        return np.argsort(-self.importances, kind="stable")

    def __repr__(self) -> str:
        known = len(self.resampled) > 0
        ends = [f" ({low:.3f} to {high:.3f})" if known else "" for low, high in zip(self.lower, self.upper)]
        first = [f"{self.names[j]} {self.importances[j]:.3f}{ends[j]}" for j in self.order[:5]]
        count = f"{len(self.names)} variables" + (f", {int(self.important.sum())} important" if known else "")
        return f"VariableImportances({count}: {'; '.join(first)})"


def variable_importances(
    estimator: BaseEstimator,
    X: MatrixLike,
    y: ArrayLike | None = None,
    *,
    n_resamples: int = 0,
    confidence: float = 0.9,
    sample_groups: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = 0,
    n_jobs: int | None = None,
) -> VariableImportances:
    """Importance of each column of X: the share of the model's decisions that the column explains alone.

    The model decides by its class probabilities and by the differences of the distances to winner and rival. A column
    explains a fraction of their variance over the samples: a column of numbers by a smooth curve, a categorical one by
    the means of its categories (all columns of its one-hot encoding are one variable). Where a variable has more than
    three degrees of freedom, what it would explain by chance beyond three is subtracted.

    Importances do not depend on units: raw and standardised columns have the same importance for the same predictions.
    Without steps before the model and without categories, the result equals `feature_importances_` if X are the
    training samples.

    With `n_resamples` the model and all steps before it are refitted to random halves of the samples. Each interval
    then holds the importance that is expected for data of this size, with the given confidence. Where training selects
    some of several features that are alike, as GRLVQ does, intervals are wide.

    Parameters
    ----------
    estimator : estimator
        Fitted model of this library, alone or in a Pipeline, a search or a RejectClassifier. From a search, and from
        the forms of `LVQClassifier`, only the chosen model is refitted.
    X : array-like of shape (n_samples, n_columns)
        Samples, as the estimator takes them; preferably the training samples.
    y : array-like of shape (n_samples,), optional
        Their classes, for `n_resamples`.
    n_resamples : int, default=0
        Number of refits for intervals; 40 is a good number.
    confidence : float, default=0.9
        Confidence of each interval, between 0 and 1.
    sample_groups : array-like of shape (n_samples,), optional
        Groups of samples, such as patients, that no half splits.
    random_state : int, RandomState or None, default=0
        Seed of the halves.
    n_jobs : int, optional
        Threads that refit models at the same time; None is one.

    Returns
    -------
    importances : VariableImportances
        Names, importances of sum one, fractions explained, and with `n_resamples` the ends of the intervals, `lower`
        and `upper`; `important` marks the variables that the refits support. Columns that do not reach the model have
        importance 0.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lvq import GMLVQ, variable_importances
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = make_pipeline(StandardScaler(), GMLVQ(random_state=0)).fit(X, y)
    >>> found = variable_importances(model, X)
    >>> str(found.names[found.order[0]])[:5], bool(found.importances[2:].sum() > 0.5)
    ('petal', True)
    >>> found = variable_importances(model, X, y, n_resamples=10)
    >>> found.names[found.important].tolist()
    ['petal length (cm)', 'petal width (cm)']
    """
    found = need_model(estimator, "variable_importances")
    names, importances, fractions = _importances(found, X)
    resampled, refits = np.zeros((0, len(names))), ()
    check_scalar(
        confidence, "confidence of variable_importances", Real, min_val=0, max_val=1, include_boundaries="neither"
    )
    if n_resamples:
        check_scalar(n_resamples, "n_resamples of variable_importances", Integral, min_val=2)
        if y is None:
            raise ValueError("n_resamples of variable_importances needs y, the classes of X.")
        halves = random_halves(column_or_1d(y), sample_groups, n_resamples, check_random_state(random_state))
        X, labels = indexable(X, column_or_1d(y))
        with warnings.catch_warnings():  # about half the samples; the fit to all of them has warned
            warnings.simplefilter("ignore", ConvergenceWarning)
            work = (delayed(_refit)(found, X, labels, half) for half, _ in halves)
            rows, refits = zip(*Parallel(n_jobs=n_jobs, prefer="threads")(work))
        resampled = np.array(rows)
    return VariableImportances(names, importances, fractions, confidence, resampled, refits)


def _importances(found: FoundModel, X: MatrixLike) -> tuple[Names, Floats, Floats]:
    """Names of the columns, importances, and fractions explained."""
    inputs = model_inputs(found, X)
    n = inputs.shape[0]
    samples = ArraySamples(inputs, np.zeros(n, dtype=np.intp), np.ones(n))
    kept = Outputs.uncalibrated(found.model).most_frequent(samples, n)
    outputs, pair = kept.of(inputs)
    X = X.tocsc() if sparse.issparse(X) else X  # columns are taken one by one
    layout = Layout(found, X)
    used = used_columns(found.steps, found.model.n_features, len(layout.names))
    centred = outputs - outputs.mean(axis=0)
    weighting = output_weighting(centred.T @ centred / n, kept.pair_weights(pair, np.full(n, 1 / n)), len(kept.classes))
    values = np.zeros(len(layout.names))
    for column in np.flatnonzero(used).tolist():
        cells = cells_of(X, column)
        is_category = column in layout.categorical and cells.dtype.kind != "M"
        values[column] = _explained(_categories(cells) if is_category else _powers(cells), centred, weighting)
    return layout.names, of_sum_one(values), values


def _powers(cells: NDArray[np.generic]) -> Floats:
    """What a number can explain: powers of the squashed values, and a column of missing values."""
    if cells.dtype.kind == "M":
        cells = np.where(np.isnat(cells), np.nan, cells.astype("datetime64[s]").astype(np.float64))
    values = numbers_of(cells)
    assert values is not None
    missing = np.isnan(values)
    if missing.all():
        return np.zeros((len(values), 1))
    mean = values[~missing].mean()
    deviation = values[~missing].std()
    curve = Curve(np.array([mean]), np.array([deviation if deviation > 1e-14 * abs(mean) else 0.0]))  # 0 for rounding
    t = curve.squashed(np.where(missing, mean, values)[:, None])
    design = np.hstack([t**exponent for exponent in range(1, DEGREE + 1)])
    return np.column_stack([design, missing]) if missing.any() else design


def _categories(values: NDArray[np.generic]) -> Floats:
    """A column for each category; missing values are a category too."""
    names = np.array(["\0missing" if is_missing(value) else str(value) for value in values.tolist()])
    categories, index = np.unique(names, return_inverse=True)
    return np.eye(len(categories))[index]


def _explained(design: Floats, centred: Floats, weighting: Floats) -> float:
    """Fraction of the outputs' variance that the columns explain together, less what they explain by chance."""
    design, n = design - design.mean(axis=0), len(design)
    fraction, freedom = (float(value) for value in explained(design.T @ design / n, design.T @ centred / n, weighting))
    surplus = max(0.0, freedom - DEGREE)
    if n - freedom <= 1:
        return fraction if not surplus else 0.0
    return max(0.0, fraction - surplus * (1 - fraction) / (n - freedom - 1))


def random_halves(
    y: Labels, groups: ArrayLike | None, count: int, random_state: np.random.RandomState
) -> list[tuple[Indices, Indices]]:
    """Halves of the samples of each class with their rests, drawn in pairs: each is followed by its rest.

    A sample that is the only one of its class is in both. With groups, each is in one half as a whole, and classes are
    halved as far as the groups allow.
    """
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    splitter = kind(2, shuffle=True, random_state=random_state)
    given = (y, y) if groups is None else (y, y, column_or_1d(groups))
    _, first, counts = np.unique(y, return_index=True, return_counts=True)
    single = first[counts == 1] if groups is None else first[:0]
    found: list[tuple[Indices, Indices]] = []
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        while len(found) < count:
            found += [(np.union1d(one, single), np.union1d(other, single)) for one, other in splitter.split(*given)]
    return found[:count]


def _refit(found: FoundModel, X: MatrixLike, y: Labels, half: Indices) -> tuple[Floats, Pipeline]:
    """Importances of the model, in its chosen form and with all steps before it, refitted to one half; that model."""
    model, rows = as_chosen(found.estimator), _safe_indexing(X, half)
    short = {"calibration": None, "max_iter": min(REFIT_ITERATIONS, getattr(model, "max_iter", REFIT_ITERATIONS))}
    model.set_params(**{name: value for name, value in short.items() if name in model.get_params()})
    steps = [(f"step {number}", clone(step)) for number, step in enumerate(found.steps)]
    pipeline = Pipeline([*steps, ("model", model)]).fit(rows, y[half])
    return _importances(need_model(pipeline, "variable_importances"), rows)[1], pipeline
