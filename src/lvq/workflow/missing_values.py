"""Missing numbers: filled by medians with indicator features, or ignored by the distances; which, and why.

With `missing="auto"` both are tried on the folds of the cross-validation. Ignoring is taken only where it is better by
more than a standard error of the difference: filled values work with everything else, such as ONNX. Rows that test a
guarantee must not choose the model that they test, so that with a guarantee nothing is compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone

from lvq import LVQClassifier, LVQClassifierCV
from lvq.estimators.find_model import find_model
from lvq.typing import JSONValue
from lvq.workflow.pipelines import can_ignore
from lvq.workflow.preparation import Samples
from lvq.workflow.rivals import scorer

if TYPE_CHECKING:
    from lvq.workflow.training import CrossValidated

TINY = 1e-9  # of a score
WAYS = ("auto", "impute", "ignore")
_DONE = {
    "impute": "became the median of their column, with an indicator feature",
    "ignore": "were ignored: distances are over the values that a row has",
}


class Candidates(NamedTuple):
    """Estimators by their way to treat missing numbers, and why there is only one where there could be two."""

    estimators: dict[str, BaseEstimator]
    reason: str


def check_way(missing: str, *, sample_prototypes: bool) -> None:
    """Raise a ValueError where `missing` of `fit_table` is not possible."""
    if missing not in WAYS:
        raise ValueError(f"missing (--missing) must be one of {', '.join(WAYS)}, got {missing!r}.")
    if missing == "ignore" and sample_prototypes:
        raise ValueError(
            "Prototypes that are samples (--sample-prototypes) need filled values, as a sample with missing values is "
            "no prototype; leave out --missing ignore."
        )


def candidates(
    missing: str, estimator: BaseEstimator, X: pd.DataFrame, samples: Samples, *, folds: int, guarantee: bool
) -> Candidates:
    """The ways to compare; `X` are the training rows.

    Examples
    --------
    >>> from lvq import GLVQ, RLVQ
    >>> table = pd.DataFrame({"size": [1.0, np.nan]})
    >>> samples = Samples(table, np.array(["a", "b"]), ("size",), (), ())
    >>> list(candidates("auto", GLVQ(), table, samples, folds=5, guarantee=False).estimators)
    ['impute', 'ignore']
    >>> candidates("auto", RLVQ(), table, samples, folds=5, guarantee=False).reason
    'RLVQ cannot ignore them'
    """
    if missing == "ignore":
        return Candidates({"ignore": estimator}, "as requested")
    if missing == "impute" or not X[list(samples.gaps)].isna().to_numpy().any():
        return Candidates({"impute": estimator}, "as requested")
    params = estimator.get_params()
    if not can_ignore(params) and not isinstance(estimator, LVQClassifierCV):
        return Candidates({"impute": estimator}, f"{type(estimator).__name__} cannot ignore them")
    reasons = {
        "there were no folds (--folds) to compare with ignoring them": not folds,
        "rows that test a guarantee must not choose between filling and ignoring (--missing)": guarantee,
        "prototypes that are samples need filled values": params.get("sample_prototypes")
        or params.get("estimator__sample_prototypes"),
    }
    for reason, holds in reasons.items():
        if holds:
            return Candidates({"impute": estimator}, reason)
    return Candidates({"impute": estimator, "ignore": ignoring(estimator)}, "")


def ignoring(estimator: BaseEstimator) -> BaseEstimator:
    """A copy of an estimator, or of a search, whose distances ignore missing values."""
    copy = clone(estimator)
    if "missing" in copy.get_params(deep=False):
        return copy.set_params(missing="ignore")
    base = LVQClassifier() if copy.estimator is None else copy.estimator
    return copy.set_params(estimator=clone(base).set_params(missing="ignore"))


def is_ignoring(model: BaseEstimator) -> bool:
    """Whether a fitted model ignores missing values.

    Examples
    --------
    >>> from lvq import GLVQ
    >>> is_ignoring(GLVQ(missing="ignore").fit([[0.0], [1.0]], [0, 1]))
    True
    """
    found = find_model(model)
    return found is not None and getattr(found.estimator, "missing", "raise") == "ignore"


class Choice(NamedTuple):
    """The way that is taken, and the section of metrics.json; None where no number is missing."""

    way: str
    section: dict[str, JSONValue] | None

    @property
    def sentence(self) -> str:
        """What was done, and why; empty where no number is missing."""
        return "" if self.section is None else str(self.section["sentence"])


def choose(
    missing: str,
    found: Candidates,
    tried: Mapping[str, CrossValidated],
    X: pd.DataFrame,
    y: np.ndarray,
    samples: Samples,
    prices: Mapping[str, float] | None = None,
) -> Choice:
    """The way to take, by its predictions on the folds, and why in one sentence.

    Parameters
    ----------
    missing : str
        As requested.
    found : Candidates
        Of `candidates`.
    tried : mapping from str to CrossValidated
        The cross-validation of each way; empty without folds.
    X, y : DataFrame, ndarray
        The training rows and their classes.
    samples : Samples
        All rows.
    prices : mapping, optional
        Prices of mistakes, by which the ways are compared where they are given.
    """
    ways, size, what = list(found.estimators), *_extent(X, samples, "training rows'")
    if not size:
        return Choice(ways[0], None)
    kind = "accuracy" if prices is None else "price"
    section: dict[str, JSONValue] = {"requested": missing, "fraction": size, "score": kind, "scores": None}
    if len(ways) == 1:
        way, because = ways[0], found.reason
    else:
        score = scorer(y, prices)
        scores = {
            each: np.array([score(y[test], np.asarray(fold.predicted)) for (_, test), fold in zip(*tried[each][:2])])
            for each in ways
        }
        way, because = _better(scores, kind)
        section["scores"] = {each: abs(float(values.mean())) for each, values in scores.items()}
    return Choice(way, section | {"way": way, "sentence": f"{what} {_DONE[way]}; {because}."})


def _extent(X: pd.DataFrame, samples: Samples, whose: str) -> tuple[float, str]:
    """Fraction of the numbers that is missing, and a text about it."""
    gaps, n_numbers = X[list(samples.gaps)].isna().to_numpy(), X.shape[1] - len(samples.texts)
    if not gaps.any():
        return 0.0, ""
    size, n_gaps = float(gaps.sum() / (len(X) * n_numbers)), int(gaps.any(axis=0).sum())
    return size, _described(size, n_gaps, n_numbers, whose)


def _described(size: float, n_gaps: int, n_numbers: int, whose: str) -> str:
    return f"Missing numbers ({100 * size:.1f} % of the {whose} numbers, in {n_gaps} of {n_numbers} columns)"


def choose_each(
    missing: str, ways: Mapping[str, Mapping[str, str]], scores: Mapping[str, np.ndarray], samples: Samples
) -> tuple[list[str], dict[str, JSONValue] | None]:
    """For each of several models the way to take, by the rule of `choose`.

    Parameters
    ----------
    missing : str
        As requested.
    ways : mapping
        The models, and for each its ways with the names of their scores.
    scores : mapping from str to ndarray
        Accuracies on the splits; a way that failed has none.
    samples : Samples
        All rows.

    Returns
    -------
    names : list of str
        Of the scores of the ways that are taken.
    section : dict, optional
        What was done, and why; None where no number is missing.
    """
    size, what = _extent(samples.X, samples, "rows'")
    taken: dict[str, str] = {}
    models: dict[str, JSONValue] = {}
    for model, own in ways.items():
        known = {way: scores[name] for way, name in own.items() if name in scores}
        if not known:
            continue
        taken[model], because = _better(known, "accuracy") if len(known) > 1 else (next(iter(known)), "")
        means = {way: float(values.mean()) for way, values in known.items()} if len(known) > 1 else None
        models[model] = {"way": taken[model], "scores": means, "why": because}
    names = [ways[model][way] for model, way in taken.items()]
    if not size:
        return names, None
    ignoring = [model for model, way in taken.items() if way == "ignore"]
    done = f"{what} {_DONE['impute']}" if len(ignoring) < len(taken) else ""
    if ignoring:
        done = f"{done}; of {', '.join(map(repr, ignoring))} they" if done else what
        done = f"{done} {_DONE['ignore']}"
    why = {"auto": "whichever is better on the splits, as in lvq fit"}.get(missing, "as requested")
    return names, {"requested": missing, "fraction": size, "models": models, "sentence": f"{done}; {why}."}


def _better(scores: Mapping[str, np.ndarray], kind: str) -> tuple[str, str]:
    """Ignoring, where it is better by more than a standard error of the difference; and a text about both."""
    difference = scores["ignore"] - scores["impute"]
    error = float(difference.std(ddof=1) / np.sqrt(len(difference))) if len(difference) > 1 else np.inf
    way = "ignore" if difference.mean() > error else "impute"
    unit, factor, form = (" points", 100, "{:.1f} %") if kind == "accuracy" else ("", 1, "{:.3g}")
    ignored, filled = (form.format(factor * abs(float(scores[each].mean()))) for each in ("ignore", "impute"))
    gain, size = (f"{round(factor * value, 1 if unit else 3):g}{unit}" for value in (float(difference.mean()), error))
    gained = f"a gain of {gain}, {'' if way == 'ignore' else 'not '}above its standard error of {size}"
    name = "accuracy" if kind == "accuracy" else "mean price"
    return way, (
        f"the {name} on the folds is {ignored} with ignoring and {filled} with filling them, "
        f"{gained if difference.mean() > TINY else 'so that nothing is gained'}"
    )
