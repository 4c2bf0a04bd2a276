"""Write all plots of `lvq.plots` to a folder: python examples/plots.py FOLDER"""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LVQClassifier, RejectClassifier
from lvq.model.relevance import Matrix
from lvq.plots import (
    AccuracyRejectDisplay,
    LambdaDisplay,
    ProjectionDisplay,
    PrototypeDisplay,
    RelevanceDisplay,
)


def table(load):
    """Training and test samples as tables, with class names; a quarter of the samples is for testing."""
    data = load(as_frame=True)
    y = np.asarray(data.target_names)[data.target].astype(str)
    return train_test_split(data.data, y, stratify=y, random_state=0)


def standardised(model):
    return make_pipeline(StandardScaler(), model.set_params(random_state=0))


def displays():
    """File names and displays, one by one."""
    X, X_test, y, y_test = table(load_iris)
    model = standardised(GMLVQ(relevance=Matrix(rank=2))).fit(X, y)
    yield "iris_map", ProjectionDisplay.from_estimator(model, X_test, y_test)
    yield "iris_prototypes", PrototypeDisplay.from_estimator(model)

    X, X_test, y, y_test = table(load_wine)
    model = standardised(LGMLVQ()).fit(X, y)
    yield "wine_map", ProjectionDisplay.from_estimator(model, X, y)
    yield "wine_relevances", RelevanceDisplay.from_estimator(model)
    yield "wine_lambda", LambdaDisplay.from_estimator(model)

    X, X_test, y, y_test = table(load_breast_cancer)
    reject = RejectClassifier(standardised(GMLVQ()), min_coverage=0.9).fit(X, y)
    yield "wdbc_map", ProjectionDisplay.from_estimator(reject, X_test, y_test)
    yield "wdbc_prototypes", PrototypeDisplay.from_estimator(reject)
    yield "wdbc_lambda", LambdaDisplay.from_estimator(reject)
    yield "wdbc_relevances", RelevanceDisplay.from_estimator(standardised(GRLVQ()).fit(X, y))
    models = {name: standardised(model).fit(X, y) for name, model in (("GLVQ", GLVQ()), ("GMLVQ", GMLVQ()))}
    curve = AccuracyRejectDisplay.from_estimator(reject, X_test, y_test)
    curve = AccuracyRejectDisplay.from_estimator(models["GLVQ"], X_test, y_test, ax=curve.ax_)
    yield "wdbc_reject", curve

    X, y = load_digits(return_X_y=True)
    model = LVQClassifier(relevance=None, n_prototypes=3, random_state=0).fit(X[:1200], y[:1200])
    yield "digits_prototypes", PrototypeDisplay.from_estimator(model)
    yield "digits_map", ProjectionDisplay.from_estimator(model, X[1200:], y[1200:])


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "plots")
    folder.mkdir(parents=True, exist_ok=True)
    for name, display in displays():
        display.figure_.savefig(folder / f"{name}.png", dpi=110)
        print(folder / f"{name}.png")


if __name__ == "__main__":
    main()
