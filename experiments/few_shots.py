"""Few rows of many classes: CLINC150, 150 intents of a voice assistant, as embeddings of 384 features.

`python -m experiments.few_shots [--jobs N] [--out FILE] [--models MODEL ...]` needs `LVQ_DATA`. Rows a class from 1 to
100, five draws, tested on the 4,500 test sentences and 1,000 sentences of no intent. The rivals have the better start:
C, the number of neighbours and the scale of the class means are chosen on the 3,000 validation sentences, 20 a class,
which `LVQClassifier` does not see. Only "combined" is calibrated on them.
"""

import os
import pathlib
import time
import warnings
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import normalize

from experiments.cells import Cell
from experiments.pool import log_loss
from experiments.tasks import Found, arguments, computed, show
from lvq import LVQClassifier, RejectClassifier
from lvq.rejection.scores import Predictions, certainty_of

ROWS, DRAWS, WHOLE = (1, 2, 5, 10, 50, 100), 5, 100  # all rows are 100 a class, of which there is one draw
MODELS = ("class mean", "k-NN", "LVQClassifier", "cosine", "cosine, 2 prototypes", "logistic regression")
COSTS, NEIGHBOURS, SCALES = (1, 3, 10, 30, 100, 300, 1000), (1, 3, 5, 10, 20), (5, 10, 20, 40, 80)


class Judged(NamedTuple):
    """A fitted model: probabilities of the classes, and certainties that an input is of a class, each by its name."""

    probabilities: Callable[[np.ndarray], np.ndarray]
    certainties: Callable[[np.ndarray], dict[str, np.ndarray]]


@cache
def sentences() -> dict[str, np.ndarray]:
    """The embedded sentences, as rows of length one, and their classes."""
    file = np.load(pathlib.Path(os.environ["LVQ_DATA"]) / "clinc150_minilm.npz")
    return {key: file[key] * file["scale"] if key.startswith("X") else file[key] for key in file.files}


def drawn(rows: int, draw: int) -> tuple[np.ndarray, np.ndarray]:
    """So many training rows of each class."""
    y, random = sentences()["y_train"], np.random.RandomState(draw)
    order = random.permutation(len(y))
    chosen = np.concatenate([order[y[order] == label][:rows] for label in np.unique(y)])
    return sentences()["X_train"][chosen], y[chosen]


def cells(models: Iterable[str] = MODELS, rows: Iterable[int] = ROWS, draws: int = DRAWS) -> list[Cell]:
    """One for each number of rows, draw and model; two prototypes need rows enough."""
    return [
        Cell("few_shots", "clinc150", name, str(n), run=draw)
        for n in rows
        for name in models
        if n >= 50 or "2 prototypes" not in name
        for draw in range(draws if n < WHOLE else 1)
    ]


def compute(cell: Cell) -> dict[str, Any]:
    """Accuracy in percent, log-loss, areas under the ROC curve for sentences of no intent, seconds of the fit."""
    X, y = drawn(int(cell.setting), cell.run)
    data, start = sentences(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        judged, seconds = fitted(cell.method, X, y, start)
    probabilities = judged.probabilities(data["X_test"])
    accuracy = 100 * float(np.mean(probabilities.argmax(axis=1) == data["y_test"]))
    inside, outside = judged.certainties(data["X_test"]), judged.certainties(data["X_oos_test"])
    known = np.repeat([1, 0], [len(data["X_test"]), len(data["X_oos_test"])])
    areas = {key: float(roc_auc_score(known, np.concatenate((inside[key], outside[key])))) for key in inside}
    return {
        "accuracy": accuracy,
        "log_loss": log_loss(probabilities, data["y_test"]),
        "seconds": seconds,
        "areas": areas,
    }


def fitted(name: str, X: np.ndarray, y: np.ndarray, start: float) -> tuple[Judged, float]:
    """A model, and the processor seconds from the start until it was fitted; those of a choice count."""
    makers = {"class mean": class_means, "k-NN": neighbours, "logistic regression": logistic}
    if name in makers:
        judged = makers[name](X, y)
        return judged, time.process_time() - start
    parameters: dict[str, Any] = {} if name == "LVQClassifier" else {"form": "plain", "metric": "cosine"}
    if "2 prototypes" in name:
        parameters["n_prototypes"] = 2
    model = LVQClassifier(random_state=0, **parameters).fit(X, y)
    seconds = time.process_time() - start
    combined = RejectClassifier(model, measure="combined", cv="prefit", min_coverage=0.9)
    combined.fit(sentences()["X_val"], sentences()["y_val"])

    def certainties(X: np.ndarray) -> dict[str, np.ndarray]:
        made = Predictions(model, X)
        named = {name: certainty_of(made, name) for name in ("distance", "probability")}
        return named | {"combined": combined.certainty(X)}

    return Judged(model.predict_proba, certainties), seconds


def _similar(means: np.ndarray, scale: float, X: np.ndarray) -> np.ndarray:
    return softmax(scale * (X @ means.T), axis=1)


def class_means(X: np.ndarray, y: np.ndarray) -> Judged:
    """Similarity to the mean of each class."""
    means = normalize(np.stack([X[y == label].mean(axis=0) for label in np.unique(y)]))
    best = _best([(partial(_similar, means, scale)) for scale in SCALES])
    return Judged(best, lambda X: {"similarity": (X @ means.T).max(axis=1)})


def neighbours(X: np.ndarray, y: np.ndarray) -> Judged:
    """The nearest training rows."""
    usable = [k for k in NEIGHBOURS if k <= len(X)]
    models = [KNeighborsClassifier(k, metric="cosine", weights="distance").fit(X, y) for k in usable]
    return Judged(
        _best([model.predict_proba for model in models]),
        lambda X: {"distance": -models[0].kneighbors(X, 1)[0][:, 0]},
    )


def logistic(X: np.ndarray, y: np.ndarray) -> Judged:
    """Multinomial logistic regression."""
    best = _best([LogisticRegression(C=cost, max_iter=300).fit(X, y).predict_proba for cost in COSTS])
    return Judged(best, lambda X: {"probability": best(X).max(axis=1)})


def _best(models: list[Callable[[np.ndarray], np.ndarray]]) -> Callable[[np.ndarray], np.ndarray]:
    """The one with the smallest log-loss of the validation rows."""
    losses = [log_loss(model(sentences()["X_val"]), sentences()["y_val"]) for model in models]
    return models[int(np.argmin(losses))]


def summary(found: Found) -> str:
    """A table for each measure: a row for each model, a column for each number of rows."""
    parts = []
    for key, digits in (("accuracy", 1), ("log_loss", 3), ("seconds", 2)):
        parts.append(_table(found, key, key, digits))
    parts.append(_table(found, "area under the ROC curve, no intent", "areas", 3))
    return "\n\n".join(parts)


def _table(found: Found, title: str, key: str, digits: int) -> str:
    means: dict[str, dict[int, list[float]]] = {}
    for cell, result in found.items():
        values = result[key] if isinstance(result[key], dict) else {"": result[key]}
        for part, value in values.items():
            name = f"{cell.method}: {part}" if part else cell.method
            means.setdefault(name, {}).setdefault(int(cell.setting), []).append(value)
    rows = [
        f"| {name} | " + " | ".join(f"{np.mean(own[n]):.{digits}f}" if n in own else "" for n in ROWS) + " |"
        for name, own in sorted(means.items())
    ]
    head = [f"| {title} | " + " | ".join(map(str, ROWS)) + " |", "|---" * (len(ROWS) + 1) + "|"]
    return "\n".join(head + rows)


def main() -> None:
    """The command."""
    given = arguments("few_shots", MODELS)
    wanted = cells(given.models, (1, 2), 1) if given.quick else cells(given.models)
    show(given.out, summary(computed([] if given.summary else wanted, compute, given.out, given.jobs)))


if __name__ == "__main__":
    main()
