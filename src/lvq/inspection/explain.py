"""Explanations in the columns of a pipeline's input: the contribution of each column to D- - D+.

The distance of a sample to a prototype is v'g with v = z - w, in the model's features, and g = Lambda v. Feature l
contributes v_l g_l. Contributions go back through the steps from the last to the first, and their sum never changes:
- a column that a step derives from one input column (scalers, encoders, imputers, other steps of single columns) adds
  its contribution to that column: one-hot columns are summed, and so is the indicator of missing values;
- columns that a selector leaves out contribute 0;
- a filter along the columns (SavitzkyGolay) gives the contribution of each output to the column at its place;
- a step that mixes columns by a matrix A (PCA, TruncatedSVD) turns v into A^+ v, the shortest change before the step
  with the same effect, and g into A'g. The rows of A are linearly independent, so A A^+ v = v and the sum stays;
- a ColumnTransformer is handled block by block;
- any other step is an error.

Where the probabilities are softmax(-(xi/T) d_c), with d_c the distance to the nearest prototype of class c, the
contributions times xi/T are the evidence: log-odds of each column for the label against the rival's class.

With a `CostClassifier` the label is the class with the least expected cost, D+ is the distance to its nearest
prototype and D- that to the nearest of the other classes; the sum is negative where the costs override.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer

from lvq.estimators.find_model import FoundModel, need_model, rejecting_layer
from lvq.inspection.columns import Cells, class_by_cost, frame_of, input_cells, input_values, model_inputs, row_names
from lvq.inspection.exemplars import NearestCases
from lvq.inspection.steps import (
    Indices,
    Names,
    Step,
    adapter,
    blocks,
    linear_map,
    names_before,
    pseudo_inverse,
)
from lvq.model.rows import as_numpy, dense
from lvq.typing import Argument, Floats, JSONValue, Labels, MatrixLike

if TYPE_CHECKING:
    from pandas import DataFrame

LARGEST_LOGARITHM = 700.0  # whose exponential is a number
MILLION = 1e6
MAX_SHOWN = 5  # samples of an explanation in a notebook,
SHOWN_FEATURES = 8  # and features of each


class InputExplanation(NamedTuple):
    """Why each sample got its label, in the columns of the input; all arrays of numbers have one row per sample."""

    label: Labels  # the class that the model itself predicts; with costs, the class of the least expected cost
    # (d- - d+)/(d- + d+), in [0, 1], below 0 where costs override the nearest; a RejectClassifier has its own
    certainty: NDArray[np.floating]
    winner: Indices  # index of the nearest prototype of that label
    rival: Indices  # index of the nearest prototype of another class
    feature_names: Names
    contributions: Floats  # (n_samples, n_columns), of sum D- - D+; positive: for the label
    inputs: MatrixLike  # the samples as they were given
    prototype_values: Cells | None  # (n_prototypes, n_columns) in the units of X; None where a step has no inverse
    rival_label: Labels  # class of the rival
    # (n_samples, n_columns), of sum log P(label)/P(rival_label); None where the probabilities are another function
    evidence: Floats | None
    cases: NearestCases | None = None  # known cases nearest to each sample, of label and rival_label, where given

    def __repr__(self) -> str:
        what = "contributions" if self.evidence is None else "evidence"
        return f"InputExplanation({what} of {len(self.feature_names)} columns, {len(self.label)} samples; see .table())"

    def _repr_html_(self) -> str | None:
        lines = self._lines(MAX_SHOWN, SHOWN_FEATURES)
        found = frame_of([line | {"odds": factor_text(line["evidence"])} if "odds" in line else line for line in lines])
        if isinstance(found, list) or found.empty:
            return None  # the repr is shown instead
        page = found.drop(columns=["certainty", "winner", "rival"]).to_html(index=False, float_format="{:.3g}".format)
        left = len(self.label) - MAX_SHOWN
        return page + (f"<p>and {left} more samples, see <code>table()</code></p>" if left > 0 else "")

    def table(self, n_features: int | None = None) -> DataFrame | list[dict[str, JSONValue]]:
        """A line for each sample and feature, with values in the units of X; the largest contributions first.

        Parameters
        ----------
        n_features : int, optional
            Number of features of each sample, by largest absolute contribution; by default all.

        Returns
        -------
        table : DataFrame, or list of dict where pandas is not installed
            Columns: `sample` (the name of the row in the table's index, or its number), `label`, `rival_label` (the
            rival's class), `certainty`, `winner` and `rival` (numbers of prototypes), `feature`, its `value` in the
            sample, `winner_value` and `rival_value` (None where a step before the model has no inverse). Models with
            evidence add `evidence`, log-odds for the label against `rival_label`, and `odds`, its exponential: the
            factor by which this feature alone multiplies these odds, 1 where it favours neither. Others add
            `contribution` (to D- - D+) and `fraction`, the contribution divided by the sum of the absolute
            contributions of the sample. Cases add `case` and `rival_case`, the nearest of the two classes.
        """
        if n_features is not None and n_features < 1:
            raise ValueError(f"n_features of table must be at least 1, or None for all features, got {n_features!r}.")
        return frame_of(self._lines(None, n_features))

    def plot(self, row: int = 0, **plot_kwargs: Argument) -> Argument:
        """Draw the evidence of a sample as a waterfall, with `lvq.plots.EvidenceDisplay`.

        Parameters
        ----------
        row : int, default=0
            Number of the sample in the explanation.
        **plot_kwargs : dict
            Arguments of `EvidenceDisplay.plot`, such as `ax`.

        Returns
        -------
        display : EvidenceDisplay
            The display, drawn.
        """
        from lvq.plots import EvidenceDisplay  # the one import against the order of the layers, see docs/design.md

        return EvidenceDisplay.from_explanation(self, row, **plot_kwargs)

    def _lines(self, n_samples: int | None, n_features: int | None) -> list[dict[str, JSONValue]]:
        names = row_names(self.inputs, len(self.label))[:n_samples]
        return [line for sample, name in enumerate(names) for line in self._of_sample(sample, name, n_features)]

    def _of_sample(self, sample: int, name: JSONValue, n_features: int | None) -> Iterator[dict[str, JSONValue]]:
        row, winner, rival = self.contributions[sample], int(self.winner[sample]), int(self.rival[sample])
        evidence = None if self.evidence is None else self.evidence[sample]
        total = float(np.abs(row).sum()) or 1.0
        values, known = input_cells(self.inputs, sample), self.prototype_values
        sides = {} if self.cases is None else {"case": self.cases.own, "rival_case": self.cases.rival}
        cases = {column: side.names[sample, 0] for column, side in sides.items()}
        for k in np.argsort(-np.abs(row), kind="stable")[:n_features].tolist():
            if evidence is None:
                amounts = {"contribution": float(row[k]), "fraction": float(row[k]) / total}
            else:
                amounts = {"evidence": float(evidence[k]), "odds": float(np.exp(min(evidence[k], LARGEST_LOGARITHM)))}
            yield {
                "sample": name,
                "label": self.label.tolist()[sample],
                "rival_label": self.rival_label.tolist()[sample],
                "certainty": float(self.certainty[sample]),
                "winner": winner,
                "rival": rival,
                "feature": str(self.feature_names[k]),
                "value": values[k],
                "winner_value": None if known is None else known[winner, k],
                "rival_value": None if known is None else known[rival, k],
                **amounts,
                **cases,
            }


def odds_text(log_odds: float) -> str:
    """Odds for people.

    Examples
    --------
    >>> odds_text(0.0), odds_text(3.17), odds_text(-1.2), odds_text(9.85), odds_text(30.0)
    ('1 : 1', '23.8 : 1', '1 : 3.32', '19,000 : 1', 'more than a million to one')
    """
    if abs(log_odds) > np.log(MILLION):
        return "more than a million to one" if log_odds > 0 else "less than one to a million"
    return f"{_size(log_odds)} : 1" if log_odds >= 0 else f"1 : {_size(log_odds)}"


def factor_text(evidence: float) -> str:
    """The factor that evidence puts on the odds.

    Examples
    --------
    >>> factor_text(1.17), factor_text(-0.5), factor_text(-9.85), factor_text(30.0)
    ('× 3.22', '× 0.607', '× 1/19,000', '× over a million')
    """
    if abs(evidence) > np.log(MILLION):
        return "× over a million" if evidence > 0 else "× under 1/1,000,000"
    if evidence < np.log(1 / 1000):
        return f"× 1/{_size(evidence)}"
    return f"× {np.exp(evidence):.3g}" if evidence < np.log(1000) else f"× {_size(evidence)}"


def _size(logarithm: float) -> str:
    """The larger side of odds, with three digits."""
    value = float(f"{np.exp(abs(logarithm)):.3g}")
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def explain(estimator: BaseEstimator, X: MatrixLike, cases: NearestCases | None = None) -> InputExplanation:
    """Winner, rival, certainty and the contribution of each input column, for each sample.

    For models whose probabilities are softmax(-(xi/T) d_c), such as `LVQClassifier`, the contributions are evidence
    too: log-odds for the predicted class against the rival's, which sum to the log-odds of the prediction exactly.

    Parameters
    ----------
    estimator : estimator
        A fitted model of this library, alone or at the end of a Pipeline, in a search, a `RejectClassifier`, a
        `CostClassifier` and so on.
        The steps before it may be scalers, feature selectors, encoders, imputers, other known transformers of single
        columns, PCA, TruncatedSVD, SavitzkyGolay, and ColumnTransformers of these. Other steps are an error.
    X : array-like of shape (n_samples, n_columns)
        Samples, as the estimator takes them. Pass only a few sparse rows, as the result is dense.
    cases : NearestCases, optional
        `lvq.inspection.nearest_cases` of the same samples, which the table then shows: a reason where features have
        no names, as in embeddings.

    Returns
    -------
    explanation : InputExplanation
        Named tuple of `label`, `certainty`, `winner`, `rival`, `feature_names` and `contributions`, by columns of X;
        `evidence` is None for models whose log-odds are not a sum over features.
        Each row of the contributions sums to D- - D+, the squared distance to the rival minus the one to the winner;
        positive contributions are for the label, negative ones for the rival's class. The method `table` also gives
        the values of sample, winner and rival in the units of X, with a line for each sample and feature.
        The certainty is (d- - d+)/(d- + d+), the relative difference of the distances to rival and winner. For a
        `RejectClassifier` it is its own ``certainty(X)``, as in the report and in predictions of the command line.
        With a `CostClassifier` the label is the class with the least expected cost and the winner its nearest
        prototype; where another class is nearer, the sum of the contributions is negative, and so is the certainty
        without a `RejectClassifier`.

    See Also
    --------
    lvq.inspection.nearest_cases : Known cases as the reason, for embeddings, whose features have no names.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.compose import make_column_transformer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder, StandardScaler
    >>> from lvq import GLVQ
    >>> X = pd.DataFrame({"size": [1.0, 2.0, 8.0, 9.0], "colour": ["red", "red", "blue", "red"]})
    >>> steps = make_column_transformer((OneHotEncoder(sparse_output=False), ["colour"]), (StandardScaler(), ["size"]))
    >>> model = make_pipeline(steps, GLVQ(random_state=0)).fit(X, ["a", "a", "b", "b"])
    >>> explanation = explain(model, X)
    >>> explanation.feature_names.tolist(), explanation.contributions.shape
    (['size', 'colour'], (4, 2))
    >>> explanation.table(n_features=1)[["sample", "label", "feature", "value"]]
       sample label feature  value
    0       0     a    size    1.0
    1       1     a    size    2.0
    2       2     b    size    8.0
    3       3     b    size    9.0
    """
    found = need_model(estimator, "explain")
    model, Z = found.model, dense(model_inputs(found, X))  # the result is dense as well
    nearest, certainty = model.nearest(as_numpy(model.distances(Z)), class_by_cost(found, estimator, X))
    labels, rivals = (model.classes[model.labels[place]] for place in (nearest.winner, nearest.rival))
    if cases is not None and not np.array_equal([side.labels for side in cases], [labels, rivals]):
        raise ValueError("cases of explain must be nearest_cases of the same estimator and samples.")
    contributions = contributions_between(found, Z, nearest.winner, nearest.rival)
    reject, reaching = rejecting_layer(estimator, X)
    scale = model.log_odds_scale
    return InputExplanation(
        label=labels,
        certainty=certainty if reject is None else reject.certainty(reaching),
        winner=nearest.winner,
        rival=nearest.rival,
        feature_names=names_before(found),
        contributions=contributions,
        inputs=X,
        prototype_values=input_values(found, model.prototypes),
        rival_label=rivals,
        evidence=None if scale is None else scale * contributions,
        cases=cases,
    )


def contributions_between(found: FoundModel, Z: NDArray[np.floating], winner: Indices, rival: Indices) -> Floats:
    """Contribution of each input column to D- - D+, for samples as they reach the model and given prototypes."""
    pairs = (found.model.slopes(Z.astype(np.float64), nearest) for nearest in (rival, winner))
    far, near = (_back(found.steps, _Parts(change * slope, (change, slope))) for change, slope in pairs)
    return far.contributions - near.contributions


class _Parts(NamedTuple):
    """The distances of samples to prototypes, divided over columns: v * g; and v and g where all was linear so far."""

    contributions: Floats
    move: tuple[Floats, Floats] | None = None


def _back(steps: Sequence[Step], parts: _Parts) -> _Parts:
    for step in reversed(steps):
        parts = _back_through_blocks(step, parts) if isinstance(step, ColumnTransformer) else _back_through(step, parts)
    return parts


def _back_through_blocks(table: ColumnTransformer, parts: _Parts) -> _Parts:
    total = np.zeros((len(parts.contributions), table.n_features_in_))
    for block in blocks(table):
        move = None if parts.move is None else (parts.move[0][:, block.output], parts.move[1][:, block.output])
        inside = _back(block.steps, _Parts(parts.contributions[:, block.output], move)).contributions
        total += _gathered(inside, block.columns, table.n_features_in_)
    return _Parts(total)


def _back_through(step: Step, parts: _Parts) -> _Parts:
    known, matrix = adapter(step), linear_map(step)
    if known.in_place:
        return _Parts(parts.contributions)
    if parts.move is not None and matrix is not None:
        change, slope = parts.move[0] @ pseudo_inverse(matrix).T, parts.move[1] @ matrix
        size = np.abs(parts.move[0]).max(initial=0)  # the change before the step must have the same effect
        if not np.allclose(change @ matrix.T, parts.move[0], rtol=1e-6, atol=1e-9 * size):
            raise ValueError(
                f"explain cannot map prototypes back through {type(step).__name__}, whose components are linearly "
                "dependent; fit it with fewer components, or transform X with that step first."
            )
        return _Parts(change * slope, (change, slope))
    source = known.sources(step)
    if source is None and matrix is not None:
        raise ValueError(
            f"explain needs linear steps after {type(step).__name__}, which mixes columns, and one of them is not; "
            "transform X with the steps up to that one first, and pass the rest of the pipeline."
        )
    if source is None:
        raise ValueError(
            f"explain needs known steps whose output columns belong to one input column each, or PCA or TruncatedSVD, "
            f"got {type(step).__name__}; transform X with that step first, and pass the rest of the pipeline."
        )
    return _Parts(_gathered(parts.contributions, source, step.n_features_in_))


def _gathered(values: Floats, source: Indices, count: int) -> Floats:
    """Columns summed by the input column that they belong to."""
    total = np.zeros((len(values), count))
    np.add.at(total.T, source, values.T)
    return total
