"""A table of numbers, categories and dates as features of a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted

from lvq.tables.header import MISSING_TEXT, check_columns, is_number
from lvq.typing import Argument, Label, MatrixLike

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["number", "date", "category"]
SOURCE = "X of TablePreprocessor"


class TablePreprocessor(ColumnTransformer):
    """Turn a data frame into features: numbers standardised, categories one-hot encoded, dates as numbers of days.

    `lvq fit` and `lvq.workflow.fit` use it. In a column of numbers with missing values, the median is filled in, and an
    additional feature indicates them. Every different string of a column is a feature: leave out notes, names and other
    free text. A missing category is a separate category. A category that was not seen in `fit`
    has the code 0 in all features of its column. Explanations, exemplars, certificates, counterfactuals and plots use
    the columns of the frame.

    Parameters
    ----------
    categorical : sequence of str, default=()
        Columns of categories that look like numbers. Other columns of strings are categories too, unless all of their
        values are numbers: one string among numbers makes a column of categories, as `kinds_` shows.
    dates : sequence of str, default=()
        Columns of strings that are dates; columns with a date type need not be named.
    detection_limits : sequence of str, default=()
        Columns of numbers in which "<0.5" is a value below a detection limit: half the limit is used, here 0.25.
    gaps : sequence of str, optional
        Columns of numbers in which a missing value becomes the median and is indicated. In other columns NaN stays NaN.
        By default, these are the columns with a missing value in `fit`, and one in another column becomes the mean.

    Attributes
    ----------
    kinds_ : dict from str to {"number", "date", "category"}
        The kind of each column.
    transformers_ : list of tuples
        The fitted transformers, as in any `ColumnTransformer`.
    feature_names_in_ : ndarray of str
        The columns.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.pipeline import make_pipeline
    >>> from lvq import GLVQ
    >>> from lvq.preprocessing import TablePreprocessor
    >>> table = pd.DataFrame({"size": [1.0, 2.0, None, 4.0], "colour": ["red", "blue", "red", None]})
    >>> TablePreprocessor().fit(table).get_feature_names_out().tolist()
    ['size', 'missingindicator_size', 'colour_(missing)', 'colour_blue', 'colour_red']
    >>> model = make_pipeline(TablePreprocessor(), GLVQ()).fit(table, ["a", "b", "a", "b"])
    >>> model.predict(pd.DataFrame({"size": [1.5], "colour": ["red"]})).tolist()
    ['a']
    """

    # what a ColumnTransformer is given; the blocks are known when the columns are
    transformers: Sequence[tuple[str, BaseEstimator, list[str]]] = ()
    remainder, sparse_threshold, n_jobs, transformer_weights = "drop", 0.0, None, None
    verbose, verbose_feature_names_out, force_int_remainder_cols = False, False, "deprecated"

    def __init__(
        self,
        *,
        categorical: Sequence[str] = (),
        dates: Sequence[str] = (),
        detection_limits: Sequence[str] = (),
        gaps: Sequence[str] | None = None,
    ) -> None:
        self.categorical = categorical
        self.dates = dates
        self.detection_limits = detection_limits
        self.gaps = gaps

    get_params = BaseEstimator.get_params  # without the parameters of the transformers inside
    set_params = BaseEstimator.set_params

    def fit_transform(self, X: MatrixLike, y: ArrayLike | None = None, **params: Argument) -> np.ndarray:
        """Learn the kinds of the columns, their scales and categories, and transform the rows.

        Parameters
        ----------
        X : DataFrame
            The rows.
        y : ignored
            For pipelines.
        **params : ignored
            For pipelines.

        Returns
        -------
        features : ndarray of shape (n_rows, n_features)
        """
        if not hasattr(X, "iloc"):
            raise TypeError(
                f"X of TablePreprocessor must be a pandas DataFrame, got {type(X).__name__}; name its columns: "
                "pd.DataFrame(X, columns=[...])."
            )
        check_columns(X.columns, [*X.columns, *self.categorical, *self.dates, *self.detection_limits], SOURCE)
        cleaned = self._cleaned(X, set(X.columns) - set(self.categorical))
        self.kinds_: dict[str, Kind] = {name: self._kind(cleaned[name]) for name in cleaned}
        rows = self._read(cleaned, {})
        gaps = [name for name in rows if self.kinds_[name] != "category" and rows[name].isna().any()]
        gaps = gaps if self.gaps is None else list(self.gaps)
        texts = [name for name in rows if self.kinds_[name] == "category"]
        # empty columns of a fold are kept, as the columns that a model expects must not depend on the fold
        imputer = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
        scaler = StandardScaler() if self.gaps is not None else make_pipeline(SimpleImputer(), StandardScaler())
        blocks = [
            ("numbers", scaler, [name for name in rows if name not in {*gaps, *texts}]),
            ("filled", make_pipeline(imputer, StandardScaler()), gaps),
            ("texts", OneHotEncoder(handle_unknown="ignore", sparse_output=False), texts),
        ]
        self.transformers = [block for block in blocks if block[2]]
        self.verbose_feature_names_out = any(name.startswith(f"{text}_") for text in texts for name in rows)
        features: np.ndarray = super().fit_transform(rows, y)
        return features

    def fit(self, X: MatrixLike, y: ArrayLike | None = None, **params: Argument) -> Self:
        """Learn the kinds of the columns, their scales and categories.

        Parameters
        ----------
        X : DataFrame
            The rows.
        y : ignored
            For pipelines.
        **params : ignored
            For pipelines.

        Returns
        -------
        self : TablePreprocessor
        """
        self.fit_transform(X)
        return self

    def transform(self, X: MatrixLike, **params: Argument) -> np.ndarray:
        """The features of rows.

        Parameters
        ----------
        X : DataFrame
            Rows with the columns of `fit`, in any order; others are ignored.
        **params : ignored
            For pipelines.

        Returns
        -------
        features : ndarray of shape (n_rows, n_features)
        """
        check_is_fitted(self)
        if not hasattr(X, "iloc"):  # values of the same columns
            import pandas as pd

            X = pd.DataFrame(X, columns=self.feature_names_in_).infer_objects()
        encoder = self.named_transformers_.get("texts")
        known = {} if encoder is None else dict(zip(encoder.feature_names_in_, encoder.categories_))
        check_columns(X.columns, list(self.kinds_), SOURCE)
        numbers = {name for name, kind in self.kinds_.items() if kind == "number"}
        rows = self._read(self._cleaned(X[list(self.kinds_)], numbers), known)
        features: np.ndarray = super().transform(rows)
        return features

    def _cleaned(self, X: pd.DataFrame, numbers: Collection[str]) -> pd.DataFrame:
        """The columns without the usual marks of missing values; strings of the columns `numbers` as numbers."""
        from lvq.tables.values import Meaning, to_frame

        meaning = Meaning(self.categorical, self.detection_limits)
        return to_frame(X, meaning, numbers).set_axis(X.index, axis=0)

    def _kind(self, column: pd.Series) -> Kind:
        from lvq.tables.values import kind_of

        if column.name in self.dates or column.dtype.kind == "M":
            return "date"
        kind = kind_of(column)
        if kind == "other":
            raise TypeError(
                f"The column {column.name!r} of {SOURCE} holds values of type {column.dtype}; leave it out, or convert "
                "it to numbers or strings."
            )
        texts = kind == "text" and column.name not in self.detection_limits
        return "category" if texts or column.name in self.categorical else "number"

    def _read(self, X: pd.DataFrame, known: Mapping[str, np.ndarray]) -> pd.DataFrame:
        """The columns as numbers and strings, with categories under their known names."""
        name_of = X.index.tolist().__getitem__
        values = {
            name: read_cells(X[name], kind, set(known.get(name, ())), SOURCE, name_of)
            for name, kind in self.kinds_.items()
        }
        return type(X)(values, index=X.index)


def read_cells(
    column: pd.Series, kind: Kind, known: set[str], source: str, row_number: Callable[[int], Label]
) -> np.ndarray:
    """The values of a column: numbers, days, or categories under known names; TableError for values of another kind.

    `source` and `row_number` name the table and a row in the error.

    Examples
    --------
    >>> import pandas as pd
    >>> read_cells(pd.Series(["7", None], dtype=object), "category", {"007", "8"}, "the table", str).tolist()
    ['007', '(missing)']
    """
    from lvq.tables.values import as_days, as_numbers, kind_of

    if kind == "category":
        return as_categories(column, known)
    if kind == "date" and kind_of(column) != "number":
        return as_days(column, source)
    return as_numbers(column, source, row_number)


def as_categories(column: pd.Series, known: set[str]) -> np.ndarray:
    """The values of a column as categories, under the names that a model knows; `MISSING_TEXT` for missing ones.

    Examples
    --------
    >>> import pandas as pd
    >>> as_categories(pd.Series(["7", None, "x"], dtype=object), {"007", "8"}).tolist()
    ['007', '(missing)', 'x']
    """
    from lvq.tables.values import as_text

    values = known_names(as_text(column), known)
    values[[value is None for value in values]] = MISSING_TEXT
    return values


def known_names(values: np.ndarray, known: set[str]) -> np.ndarray:
    """Strings under the names that a model knows, where it knows their numbers: 7 may be 7.0 or 007 elsewhere.

    A number with two names, such as 1 and 1.0, is left as it is.

    Examples
    --------
    >>> known_names(np.array(["7", "8.0", None, "x"], dtype=object), {"007", "8"}).tolist()
    ['007', '8', None, 'x']
    >>> known_names(np.array(["1.00"], dtype=object), {"1", "1.0"}).tolist()
    ['1.00']
    """
    names = known - {MISSING_TEXT}
    if not all(map(is_number, names)):
        return values
    numbers = Counter(map(float, names))
    by_number = {float(name): name for name in names if numbers[float(name)] == 1}
    for value in set(values) - known - {None}:
        if is_number(value):
            values[values == value] = by_number.get(float(value), value)
    return values
