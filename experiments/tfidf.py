"""20 newsgroups as tf-idf, sparse rows of 130,107 features: `LVQClassifier` beside a linear SVM.

`python -m experiments.tfidf [--jobs N] [--out FILE] [--models MODEL ...]` takes 20newsgroups_bydate.jsonl.xz from the
folder that LVQ_DATA names. Articles with their headers, the official division; counts of words as they are and by their
logarithm. Nothing is tuned.
"""

import os
import pathlib
import time
import warnings
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.svm import LinearSVC

from experiments.cells import Cell
from experiments.embed_newsgroups import articles
from experiments.tasks import Found, arguments, computed, show
from lvq import LVQClassifier

MODELS: dict[str, Any] = {
    "LVQClassifier": LVQClassifier(random_state=0),
    "LVQClassifier, cosine": LVQClassifier(metric="cosine", random_state=0),
    "LinearSVC": LinearSVC(random_state=0),
}
COUNTS = ("counts", "logarithms of counts")


@cache
def rows(counts: str) -> tuple[sparse.csr_matrix, np.ndarray, sparse.csr_matrix, np.ndarray]:
    """Training and test part."""
    found = articles(pathlib.Path(os.environ.get("LVQ_DATA", "")))
    parts = [[article for article in found if article["split"] == part] for part in ("train", "test")]
    train, test = ([article["text"] for article in part] for part in parts)
    y_train, y_test = (np.array([article["target"] for article in part]) for part in parts)
    encoder = TfidfVectorizer(sublinear_tf=counts != COUNTS[0])
    return encoder.fit_transform(train), y_train, encoder.transform(test), y_test


def compute(cell: Cell) -> dict[str, Any]:
    """Accuracy in percent, and processor seconds of the fit."""
    X, y, new, truth = rows(cell.setting)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        MODELS[cell.method].fit(X[::50], y[::50])  # loads what a first fit loads
        start = time.process_time()
        model = MODELS[cell.method].fit(X, y)
        seconds = time.process_time() - start
    return {"accuracy": 100 * float(model.score(new, truth)), "seconds": seconds}


def summary(found: Found) -> str:
    """A row for each model, two columns for each kind of counts."""
    head = ["| model | " + " | ".join(f"{counts}, accuracy | seconds" for counts in COUNTS) + " |", "|---" * 5 + "|"]
    for name in MODELS:
        own = {cell.setting: result for cell, result in found.items() if cell.method == name}
        parts = [f"{own[counts]['accuracy']:.1f} | {own[counts]['seconds']:.1f}" for counts in COUNTS if counts in own]
        head.append(f"| {name} | " + " | ".join(parts) + " |")
    return "\n".join(head)


def main() -> None:
    """The command."""
    given = arguments("tfidf", list(MODELS))
    cells = [Cell("tfidf", "20 newsgroups", name, counts) for counts in COUNTS for name in given.models]
    show(given.out, summary(computed([] if given.summary else cells, compute, given.out, given.jobs)))


if __name__ == "__main__":
    main()
