"""Fitted models and their summaries, made once for all tests of the report."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_blobs
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GLVQ, GMLVQ, LGMLVQ, RejectClassifier
from lvq.model.relevance import Matrix
from lvq.reports import Context, Folds, Report, render
from lvq.solvers.lbfgs import LBFGS

HOSTILE = '</script><script>alert(1)</script> & "x" <img src=x onerror=alert(2)> {{ 7 * 7 }} \u2028'


class Case(NamedTuple):
    """A fitted model, held-out samples, and their report."""

    model: Any
    X: np.ndarray
    y: np.ndarray
    report: Report
    X_train: np.ndarray | None = None

    @property
    def summary(self):
        """The content of metrics.json."""
        return self.report.to_json()


@pytest.fixture(scope="session")
def wdbc():
    """Two classes, a matrix of rank 2, thresholds with a guarantee, folds."""
    pytest.importorskip("pandas")
    data = load_breast_cancer(as_frame=True)
    y = data.target_names[data.target].astype(str)
    X, X_test, y, y_test = train_test_split(data.data, y, stratify=y, random_state=0)
    X_test = X_test.reset_index(drop=True)
    inner = make_pipeline(StandardScaler(), GMLVQ(relevance=Matrix(rank=2), n_prototypes=2, random_state=0))
    model = RejectClassifier(inner, max_error=0.08, cv=0.5).fit(X, y)
    context = Context(
        title="GMLVQ", data_name="breast tumours", target="diagnosis", seed=0, folds=Folds([0.9, 0.95], [70, 71]),
        protocol="A quarter of the samples was held out.",
    )  # fmt: skip
    report = Report.of(model, X_test, y_test, X_train=X, y_train=y, context=context)
    return Case(model, X_test, y_test, report, X)


@pytest.fixture(scope="session")
def digits():
    """Ten classes, pixels of a square image, no rejection."""
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    model = GLVQ(n_prototypes=2, max_iter=20, solver=LBFGS(tol=1e-2), random_state=0).fit(X, y)
    return Case(model, X_test, y_test, Report.of(model, X_test, y_test, context=Context(data_name="digits", seed=0)))


@pytest.fixture(scope="session")
def iris():
    """Three classes, default options."""
    X, y = load_iris(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    model = GMLVQ(random_state=0).fit(X, y)
    return Case(model, X_test, y_test, Report.of(model, X_test, y_test))


@pytest.fixture(scope="session")
def many_classes():
    """Twenty classes with long names, forty prototypes, a matrix for each class."""
    X, codes = make_blobs(600, 8, centers=20, cluster_std=4, random_state=0)
    y = np.array([f"class number {code} with a long name" for code in codes])
    model = LGMLVQ(n_prototypes=2, max_iter=3, solver=LBFGS(tol=1.0), random_state=0).fit(X, y)
    return Case(model, X[:150], y[:150], Report.of(model, X[:150], y[:150]))


@pytest.fixture(scope="session")
def hostile():
    """Names that try to break out of the page, wherever a name can come from."""
    rng = np.random.default_rng(0)
    y = np.array(["<b>bold</b>", HOSTILE])[np.arange(120) % 2]
    X = rng.normal(size=(120, 3)) + 1.5 * (np.arange(120) % 2)[:, None]
    X = pytest.importorskip("pandas").DataFrame(X, columns=[HOSTILE, "ünïcödé 特徴 " * 8, "'; alert(3); '"])
    model = make_pipeline(StandardScaler(), GMLVQ(random_state=0)).fit(X, y)
    context = Context(
        title=HOSTILE, data_name=HOSTILE, target=HOSTILE, protocol=HOSTILE, notes=[HOSTILE], row_names=HOSTILE
    )
    return Case(model, X, y, Report.of(model, X, y, context=context))


@pytest.fixture(scope="session")
def cases(wdbc, digits, iris, hostile, many_classes):
    return {"wdbc": wdbc, "digits": digits, "iris": iris, "hostile": hostile, "many_classes": many_classes}


@pytest.fixture(scope="session")
def html(cases):
    """The rendered page of each case."""
    return {name: render(case.report) for name, case in cases.items()}


@pytest.fixture(scope="session")
def accepted_at():
    """Which of the samples on the map are accepted at an operating point, computed as the page does."""

    def accepted(summary, point):
        toggles = summary["map"]["points"]["toggles"]
        return np.array([sum(change <= point for change in changes) % 2 == 0 for changes in toggles])

    return accepted
