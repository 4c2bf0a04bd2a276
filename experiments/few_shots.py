"""Few rows of many classes, as embeddings of 384 features: intents of CLINC150 and articles of 20 newsgroups.

`python -m experiments.few_shots [--jobs N] [--out FILE] [--models MODEL ...]` takes the files below from the folder
that LVQ_DATA names, and leaves out sets whose file is missing; `experiments.embed_newsgroups` makes the second one.
Rows a class from 1 to 100, five draws. The rivals have the better start: C, the number of neighbours and the scale of
the class means are chosen on validation rows, which `LVQClassifier` does not see: 20 sentences of each intent, a fifth
of the training articles. Only "combined" is calibrated on them. Foreign rows are 1,000 sentences of no intent, and the
test articles of five groups that a draw leaves out of all else.
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

ROWS, DRAWS = (1, 2, 5, 10, 50, 100), 5
INTENTS, GROUPS, FEWER_GROUPS = "clinc150", "20 newsgroups", "15 of 20 newsgroups"
FILES = {
    INTENTS: "clinc150_minilm.npz",
    GROUPS: "20newsgroups_minilm.npz",
    FEWER_GROUPS: "20newsgroups_minilm.npz",
}
FOREIGN_GROUPS = 5
MODELS = (
    "class mean",
    "k-NN",
    "LVQClassifier",
    "LVQClassifier, 2 prototypes",
    "cosine",
    "cosine, 2 prototypes",
    "logistic regression",
)
MEASURES = (("accuracy", 1), ("log_loss", 3), ("seconds", 2))  # and digits
COSTS, LARGEST_COST = (1, 3, 10, 30, 100, 300, 1000), 1_000_000
NEIGHBOURS, SCALES = (1, 3, 5, 10, 20), (5, 10, 20, 40, 80)


class Rows(NamedTuple):
    """Rows of length one, and the places of their classes."""

    X: np.ndarray
    y: np.ndarray

    def only(self, chosen: np.ndarray) -> "Rows":
        """Some of them."""
        return Rows(self.X[chosen], self.y[chosen])


class Task(NamedTuple):
    """Rows to train on, to choose by and to test with, and foreign ones, which may be none."""

    train: Rows
    validation: Rows
    test: Rows
    foreign: np.ndarray


class Judged(NamedTuple):
    """A fitted model: probabilities of the classes, and certainties that an input is of a class, each by its name."""

    probabilities: Callable[[np.ndarray], np.ndarray]
    certainties: Callable[[np.ndarray], dict[str, np.ndarray]]


# -- rows --------------------------------------------------------------------------------------------------------------


def file_of(name: str) -> pathlib.Path:
    """Where the embeddings of a set are looked for."""
    return pathlib.Path(os.environ.get("LVQ_DATA", "")) / FILES[name]


@cache
def _stored(path: pathlib.Path) -> dict[str, np.ndarray]:
    return dict(np.load(path))


def task_of(name: str, rows: int, draw: int) -> Task:
    """So many training rows of each class, and all others of a set."""
    whole = _intents() if name == INTENTS else _groups()
    if name == FEWER_GROUPS:
        whole = _without(whole, np.random.RandomState(draw).permutation(20)[:FOREIGN_GROUPS])
    y, random = whole.train.y, np.random.RandomState(draw)
    order = random.permutation(len(y))
    chosen = np.concatenate([order[y[order] == label][:rows] for label in np.unique(y)])
    return whole._replace(train=whole.train.only(chosen))


def _intents() -> Task:
    file = _stored(file_of(INTENTS))
    train, validation, test = (
        Rows(file[f"X_{part}"] * file["scale"], file[f"y_{part}"]) for part in ("train", "val", "test")
    )
    return Task(train, validation, test, file["X_oos_test"] * file["scale"])


def _groups() -> Task:
    file = _stored(file_of(GROUPS))
    train, test = (Rows(file[f"X_{part}"], file[f"y_{part}"]) for part in ("train", "test"))
    order = np.random.RandomState(0).permutation(len(train.y))
    fifth = len(order) // 5
    return Task(train.only(order[fifth:]), train.only(order[:fifth]), test, test.X[:0])


def _without(whole: Task, labels: np.ndarray) -> Task:
    """The task without some classes, whose test rows are foreign."""
    kept = np.setdiff1d(whole.train.y, labels)
    parts = [rows.only(np.isin(rows.y, kept)) for rows in whole[:3]]
    train, validation, test = (Rows(rows.X, np.searchsorted(kept, rows.y)) for rows in parts)
    return Task(train, validation, test, whole.test.X[np.isin(whole.test.y, labels)])


# -- cells -------------------------------------------------------------------------------------------------------------


def cells(
    sets: Iterable[str] = FILES, models: Iterable[str] = MODELS, rows: Iterable[int] = ROWS, draws: int = DRAWS
) -> list[Cell]:
    """One for each set, number of rows, draw and model; two prototypes need rows enough."""
    return [
        Cell("few_shots", name, model, str(n), run=draw)
        for name in sets
        for n in rows
        for model in models
        if n >= 50 or "2 prototypes" not in model
        for draw in range(1 if (name, n) == (INTENTS, 100) else draws)  # all rows, of which there is one draw
    ]


def compute(cell: Cell) -> dict[str, Any]:
    """Accuracy in percent, log-loss, seconds of the fit, and areas under the ROC curve where there are foreign rows."""
    task, start = task_of(cell.dataset, int(cell.setting), cell.run), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        judged, seconds = fitted(cell.method, task, start)
    probabilities = judged.probabilities(task.test.X)
    accuracy = 100 * float(np.mean(probabilities.argmax(axis=1) == task.test.y))
    found = {"accuracy": accuracy, "log_loss": log_loss(probabilities, task.test.y), "seconds": seconds}
    return found | {"areas": areas(judged, task) if len(task.foreign) else {}}


def areas(judged: Judged, task: Task) -> dict[str, float]:
    """How well each certainty separates test rows from foreign ones."""
    inside, outside = judged.certainties(task.test.X), judged.certainties(task.foreign)
    known = np.repeat([1, 0], [len(task.test.X), len(task.foreign)])
    return {key: float(roc_auc_score(known, np.concatenate((inside[key], outside[key])))) for key in inside}


# -- models ------------------------------------------------------------------------------------------------------------


def fitted(name: str, task: Task, start: float) -> tuple[Judged, float]:
    """A model, and the processor seconds from the start until it was fitted; those of a choice count."""
    makers = {"class mean": class_means, "k-NN": neighbours, "logistic regression": logistic}
    if name in makers:
        judged = makers[name](task)
        return judged, time.process_time() - start
    parameters: dict[str, Any] = {"form": "plain", "metric": "cosine"} if "cosine" in name else {}
    if "2 prototypes" in name:
        parameters |= {"form": "plain", "n_prototypes": 2}
    model = LVQClassifier(random_state=0, **parameters).fit(*task.train)
    seconds = time.process_time() - start
    if not len(task.foreign):
        return Judged(model.predict_proba, lambda X: {}), seconds
    combined = RejectClassifier(model, measure="combined", cv="prefit", min_coverage=0.9).fit(*task.validation)

    def certainties(X: np.ndarray) -> dict[str, np.ndarray]:
        made = Predictions(model, X)
        named = {name: certainty_of(made, name) for name in ("distance", "probability")}
        return named | {"combined": combined.certainty(X)}

    return Judged(model.predict_proba, certainties), seconds


def _similar(means: np.ndarray, scale: float, X: np.ndarray) -> np.ndarray:
    return softmax(scale * (X @ means.T), axis=1)


def class_means(task: Task) -> Judged:
    """Similarity to the mean of each class."""
    X, y = task.train
    means = normalize(np.stack([X[y == label].mean(axis=0) for label in np.unique(y)]))
    best = _best([(partial(_similar, means, scale)) for scale in SCALES], task.validation)
    return Judged(best, lambda X: {"similarity": (X @ means.T).max(axis=1)})


def neighbours(task: Task) -> Judged:
    """The nearest training rows."""
    usable = [k for k in NEIGHBOURS if k <= len(task.train.X)]
    models = [KNeighborsClassifier(k, metric="cosine", weights="distance").fit(*task.train) for k in usable]
    return Judged(
        _best([model.predict_proba for model in models], task.validation),
        lambda X: {"distance": -models[0].kneighbors(X, 1)[0][:, 0]},
    )


def logistic(task: Task) -> Judged:
    """Multinomial logistic regression; larger C than those given are tried as long as the largest is best."""

    def probabilities(cost: float) -> Callable[[np.ndarray], np.ndarray]:
        return LogisticRegression(C=cost, max_iter=300).fit(*task.train).predict_proba

    costs = list(COSTS)
    models = [probabilities(cost) for cost in costs]
    while (best := _best(models, task.validation)) is models[-1] and costs[-1] < LARGEST_COST:
        costs.append(10 * costs[-1])
        models.append(probabilities(costs[-1]))
    return Judged(best, lambda X: {"probability": best(X).max(axis=1)})


def _best(models: list[Callable[[np.ndarray], np.ndarray]], validation: Rows) -> Callable[[np.ndarray], np.ndarray]:
    """The one with the smallest log-loss of the validation rows."""
    losses = [log_loss(model(validation.X), validation.y) for model in models]
    return models[int(np.argmin(losses))]


# -- tables ------------------------------------------------------------------------------------------------------------


def summary(found: Found) -> str:
    """For each set a table for each measure: a row for each model, a column for each number of rows."""
    parts = []
    for name in FILES:
        own = {cell: result for cell, result in found.items() if cell.dataset == name}
        if own:
            parts.append(f"## {name}")
            parts += [_table(own, key, key, digits) for key, digits in MEASURES]
        if any(result["areas"] for result in own.values()):
            parts.append(_table(own, "area under the ROC curve, foreign rows", "areas", 3))
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
    sets = [name for name in FILES if file_of(name).is_file()]
    for name in FILES:
        if name not in sets:
            print(f"{name}: skipped, as {FILES[name]} is not in the folder that LVQ_DATA names")
    wanted = cells(sets, given.models, (1, 2), 1) if given.quick else cells(sets, given.models)
    show(given.out, summary(computed([] if given.summary else wanted, compute, given.out, given.jobs)))


if __name__ == "__main__":
    main()
