"""How Jin, Liu and Hou train and choose: data, folds, starts, the grid, and the fit at the chosen point.

Rules: all methods use the same folds, the same held-out part and the same initial prototypes; one interpretation of the
paper for all methods and sets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler

from experiments.datasets import load_dataset
from lvq import GLVQ, LOGM, MCE, SNPC
from lvq.model.samples import ArraySamples
from lvq.model.starts import start_prototypes
from lvq.solvers.online import Online

MODELS: dict[str, Any] = {"MCE": MCE, "SNPC": SNPC, "LOGM": LOGM, "GLVQ": GLVQ}
#: What the paper leaves open: the steepness of the sigmoids, in units of 1/cov but for GLVQ, whose cost is relative.
OPTIONS: dict[str, dict[str, float]] = {
    "MCE": {"xi": 2.0},
    "SNPC": {"xi": 2.0},
    "LOGM": {"xi": 2.0},
    "GLVQ": {"slope": 20.0},
}
WORDS = 1000  # of 20NG, by information gain
FOLDS = 10


class Setting(NamedTuple):
    """A point of the grid, in the paper's order."""

    alpha: float
    prototypes: int
    tau: float


@dataclass(frozen=True)
class Protocol:
    """What the paper does with the small sets; `LARGE_SET_PROTOCOL` is for the two large ones."""

    epochs: int = 100
    prototypes: tuple[int, ...] = (1, 2, 3, 4, 5)
    taus: tuple[float, ...] = (0.1, 0.5, 1.0, 1.5, 2.0)
    alphas: tuple[float, ...] = (0.0, 0.001, 0.005, 0.01, 0.05)
    held_out: float = 1 / 3
    in_turn: bool = False  # whether S, tau and alpha are searched one after the other, not in the whole grid


SMALL_SET_PROTOCOL = Protocol()
LARGE_SET_PROTOCOL = Protocol(epochs=40, prototypes=(5, 10, 15, 20, 25), held_out=1 / 5, in_turn=True)


class Split(NamedTuple):
    """Training and test samples; the training rows are in the order in which they are presented."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


class Start(NamedTuple):
    """Samples and initial prototypes, the same for all fits with one number of prototypes."""

    X: np.ndarray
    y: np.ndarray
    prototypes: np.ndarray
    labels: np.ndarray


# -- data --------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=16)
def samples(dataset: str) -> tuple[np.ndarray, np.ndarray]:
    """A small set as it is."""
    return load_dataset(dataset, return_X_y=True)


def fold(dataset: str, run: int, number: int) -> Split:
    """One fold of ten, standardised on its training part; the same for every method."""
    X, y = samples(dataset)
    seed = run + (1000 if dataset == "pima" else 0)  # the same data as diabetes: other folds, as in the paper
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y)
    training, test = list(folds)[number]
    training = np.random.RandomState(seed).permutation(training)
    scaler = StandardScaler().fit(X[training])
    return Split(scaler.transform(X[training]), y[training], scaler.transform(X[test]), y[test])


@lru_cache(maxsize=2)
def official(dataset: str) -> Split:
    """The set's own training and test part, as they are: their features have one unit."""
    data = load_dataset(dataset)
    if dataset == "20ng":
        X, X_test = newsgroup_vectors(data.X_train, data.y_train, data.X_test)
    else:
        X, X_test = data.X_train, data.X_test
    order = np.random.RandomState(0).permutation(len(X))
    return Split(X[order], data.y_train[order], X_test, data.y_test)


def newsgroup_vectors(texts: Any, y: np.ndarray, test_texts: Any) -> tuple[np.ndarray, np.ndarray]:
    """The words of highest information gain, weighted by (1 + log tf) idf, each text scaled to length one."""
    counter = CountVectorizer(dtype=np.float32)
    counts = counter.fit_transform(texts)
    chosen = np.sort(np.argsort(-information_gain(counts, y), kind="stable")[:WORDS])
    weigher = TfidfTransformer(sublinear_tf=True).fit(counts[:, chosen])
    both = (weigher.transform(part[:, chosen]) for part in (counts, counter.transform(test_texts)))
    training, test = (np.ascontiguousarray(part.toarray(), dtype=np.float32) for part in both)
    return training, test


def information_gain(counts: Any, y: np.ndarray) -> np.ndarray:
    """Information gain of the presence of each word about the class, in bits.

    Examples
    --------
    >>> information_gain(sparse.csr_array([[3, 1], [1, 0], [0, 1], [0, 0]]), np.array([0, 0, 1, 1])).tolist()
    [1.0, 0.0]
    """
    classes = np.unique(y)
    member = sparse.csr_array((y[None, :] == classes[:, None]).astype(np.float64))
    present = (member @ (counts > 0).astype(np.float64)).toarray() / len(y)
    absent = np.bincount(np.searchsorted(classes, y))[:, None] / len(y) - present
    joint = np.stack((present, absent))
    return _bits(joint).sum(axis=(0, 1)) - _bits(joint.sum(axis=0)).sum(axis=0) - _bits(joint.sum(axis=1)).sum(axis=0)


def _bits(fraction: np.ndarray) -> np.ndarray:
    return fraction * np.log2(np.where(fraction > 0, fraction, 1.0))


# -- one fit -----------------------------------------------------------------------------------------------------------


def make_model(method: str, setting: Setting, epochs: int, **options: Any) -> Any:
    """The estimator of a grid point: rate 0.1 tau cov, falling to zero step by step."""
    return MODELS[method](
        n_prototypes=setting.prototypes,
        alpha=setting.alpha,
        max_iter=epochs,
        solver=Online(learning_rate=0.1 * setting.tau, shuffle=False),  # the order of the fold, the same for all
        random_state=0,
        **OPTIONS[method],
        **options,
    )


def start_from(X: np.ndarray, y: np.ndarray, prototypes: int) -> Start:
    """k-means inside each class."""
    counts = np.full(y.max() + 1, prototypes)
    samples = ArraySamples(X, y, np.ones(len(X), dtype=X.dtype))
    W, labels = start_prototypes(samples, counts, "kmeans", np.random.RandomState(0))
    return Start(X, y, W, labels)


def fit_from(start: Start, method: str, setting: Setting, epochs: int) -> Any:
    """A model fitted from given prototypes."""
    model = make_model(method, setting, epochs, init=(start.prototypes, start.labels))
    return model.fit(start.X, start.y)


# -- the search --------------------------------------------------------------------------------------------------------


class Trial:
    """A split with a part of its training samples held out, and the starts, for all methods and grid points."""

    def __init__(self, split: Split, protocol: Protocol) -> None:
        self.split, self.protocol = split, protocol
        rows = np.arange(len(split.y))
        used, held = train_test_split(rows, test_size=protocol.held_out, stratify=split.y, random_state=0)
        self.X_held, self.y_held = split.X[held], split.y[held]
        X, y = np.ascontiguousarray(split.X[used]), split.y[used]
        self.starts = {count: start_from(X, y, count) for count in protocol.prototypes}

    def score(self, method: str, setting: Setting) -> float:
        """Accuracy on the held-out part."""
        model = fit_from(self.starts[setting.prototypes], method, setting, self.protocol.epochs)
        return float(model.score(self.X_held, self.y_held))

    def test(self, method: str, setting: Setting) -> float:
        """Accuracy on the test part, after training on the whole training part."""
        start = start_from(self.split.X, self.split.y, setting.prototypes)
        model = fit_from(start, method, setting, self.protocol.epochs)
        return float(model.score(self.split.X_test, self.split.y_test))

    def choose(self, method: str) -> Setting:
        """The grid point with the best score; the first of equal ones."""
        search = search_in_turn if self.protocol.in_turn else search_grid
        return search(self.protocol, lambda setting: self.score(method, setting))


@lru_cache(maxsize=64)
def fold_trial(dataset: str, run: int, number: int, protocol: Protocol) -> Trial:
    """The trial of one fold, kept for the methods that follow."""
    return Trial(fold(dataset, run, number), protocol)


@lru_cache(maxsize=1)
def official_trial(dataset: str, protocol: Protocol) -> Trial:
    """The trial of a set with a split of its own."""
    return Trial(official(dataset), protocol)


def grid(protocol: Protocol) -> list[Setting]:
    """All points; of equal ones the first is taken: the fastest rate, then the fewest prototypes, the least alpha."""
    return [
        Setting(alpha, count, tau)
        for tau in sorted(protocol.taus, reverse=True)
        for count in protocol.prototypes
        for alpha in protocol.alphas
    ]


def search_grid(protocol: Protocol, score: Callable[[Setting], float]) -> Setting:
    """The best point of all."""
    return max(grid(protocol), key=score)


def search_in_turn(protocol: Protocol, score: Callable[[Setting], float]) -> Setting:
    """The best S at the middle of the grid, then the best tau for it, then the best alpha: 13 fits, not 125."""
    known = lru_cache(maxsize=None)(score)
    middle = Setting(protocol.alphas[len(protocol.alphas) // 2], 0, protocol.taus[len(protocol.taus) // 2])
    best = max((middle._replace(prototypes=count) for count in protocol.prototypes), key=known)
    best = max((best._replace(tau=tau) for tau in protocol.taus), key=known)
    return max((best._replace(alpha=alpha) for alpha in protocol.alphas), key=known)
