"""A first look, run by `make demo` or ``python -m lvq.demo``: train on data that ship with scikit-learn, and read the
result.

The model has one weight for each feature (``relevance="gradient"``), as that is the easiest to read; the default, a
matrix for each prototype, can bend further.
"""

import time
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import lvq
from lvq import LVQClassifier

SHOWN = 5  # features in each list
SURE = 0.9  # share of the answers that count as the surest

NEXT_STEPS = """\
Next
  README.md                       ten lines of Python to start from
  docs/models.md                  every model, its formula and its paper
  LVQClassifier()                 the default has a matrix for each prototype
  LVQClassifier(relevance="matrix", rank=2)
                                  one matrix for all: transform(X) draws a map
  lvq.rejection.RejectClassifier  leaves out answers that are not sure enough"""


class Trial(NamedTuple):
    """Data, the part that was held out, and the pipeline that has learned from the rest."""

    names: np.ndarray  # of the features
    learned_from: int
    X: np.ndarray  # held out
    y: np.ndarray
    pipeline: Pipeline
    seconds: float


def run_trial() -> Trial:
    """Split the breast cancer data, learn from three quarters."""
    data = load_breast_cancer()
    classes = data.target_names[data.target]
    X, X_test, y, y_test = train_test_split(data.data, classes, stratify=classes, random_state=0)
    pipeline = make_pipeline(StandardScaler(), LVQClassifier(relevance="gradient", random_state=0))
    start = time.perf_counter()
    pipeline.fit(X, y)
    return Trial(data.feature_names, len(X), X_test, y_test, pipeline, time.perf_counter() - start)


def what_was_learned(trial: Trial) -> list[str]:
    """Data, prototypes, and how many of the held-out samples are answered rightly."""
    model = trial.pipeline[-1]
    classes, counts = np.unique(model.prototype_labels_, return_counts=True)
    prototypes = ", ".join(f"{count} {label}" for label, count in zip(classes, counts))
    right = trial.pipeline.predict(trial.X) == trial.y
    certainty = model.explain(trial.pipeline[:-1].transform(trial.X)).certainty
    surest = np.argsort(-certainty, kind="stable")[: round(SURE * len(right))]
    return [
        f"lvq {lvq.__version__}: learning vector quantization",
        "",
        f"Data: breast tumours, {trial.X.shape[1]} measurements of each (load_breast_cancer): mean,",
        "  standard error and worst value over the cells seen, of ten quantities.",
        f"Model: StandardScaler, then {model}.",
        f"It learned from {trial.learned_from} tumours in {trial.seconds:.1f} s; {len(trial.y)} were held out.",
        "",
        f"Accuracy on the held-out tumours  {right.mean():6.1%}  ({right.sum()} of {len(right)})",
        f"  on the {SURE:.0%} it is surest of       {right[surest].mean():6.1%}"
        f"  ({right[surest].sum()} of {len(surest)})",
        f"Prototypes (labelled points)      {len(model.prototypes_):5}    ({prototypes})",
    ]


def what_matters(trial: Trial) -> list[str]:
    """The features with the largest relevances."""
    relevances = trial.pipeline[-1].relevances_
    lines = ["What it looks at: weight of each feature in the distances (all sum to 100 %)"]
    top = np.argsort(-relevances, kind="stable")[:SHOWN]
    for k in top:
        lines.append(f"  {trial.names[k]:<24}{relevances[k]:6.1%}  {_bar(relevances[k] / relevances[top[0]])}")
    rest = 1 - relevances[top].sum()
    return [*lines, f"  {f'the other {len(relevances) - len(top)} together':<24}{rest:6.1%}"]


def why(trial: Trial, title: str, sample: int) -> list[str]:
    """One answer: winner, rival, certainty, and the features that decided, in the data's own units."""
    scaler, model = trial.pipeline[0], trial.pipeline[-1]
    x = trial.X[sample : sample + 1]
    found = model.explain(scaler.transform(x))
    winner, rival = int(found.winner[0]), int(found.rival[0])
    here, there = model.prototype_labels_[winner], model.prototype_labels_[rival]
    verdict = "right" if found.label[0] == trial.y[sample] else f"wrong: it was {trial.y[sample]}"
    values = (x[0], *scaler.inverse_transform(model.prototypes_[[winner, rival]]))
    lines = [
        f"{title}: {found.label[0]}, certainty {found.certainty[0]:.2f} ({verdict})",
        f"  nearest is prototype {winner} ({here}); of the other class, prototype {rival} ({there})",
        f"  {'':<24}{'tumour':>10}{here:>12}{there:>12}  speaks for",
    ]
    contributions = found.contributions[0]
    for k in np.argsort(-np.abs(contributions), kind="stable")[:SHOWN]:
        numbers = "".join(f"{value[k]:>{width}.4g}" for value, width in zip(values, (10, 12, 12)))
        side = here if contributions[k] > 0 else there
        lines.append(f"  {trial.names[k]:<24}{numbers}  {side:<10}{abs(contributions[k]):5.2f}")
    balance = f"  all {len(contributions)} features, for less against"
    return [*lines, f"{balance:<60}  {here:<10}{contributions.sum():5.2f}"]


def _bar(share: float, width: int = 30) -> str:
    return "#" * max(1, round(width * share))


def main() -> None:
    """Train, and print what was learned, what matters, a sure and an unsure answer, and where to go on."""
    trial = run_trial()
    certainty = trial.pipeline[-1].explain(trial.pipeline[:-1].transform(trial.X)).certainty
    sections = (
        what_was_learned(trial),
        what_matters(trial),
        why(trial, "A sure answer", int(certainty.argmax())),
        why(trial, "An unsure answer", int(certainty.argmin())),
        [NEXT_STEPS],
    )
    print("\n\n".join("\n".join(lines) for lines in sections))


if __name__ == "__main__":
    main()
