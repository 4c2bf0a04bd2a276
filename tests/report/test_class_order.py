"""Natural order of the classes: every section names the same classes as before."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.metrics import confusion_matrix

from lvq import GMLVQ, CostClassifier
from lvq.report import summarize
from lvq.report.class_order import in_natural_order, natural_key


def test_natural_keys():
    assert sorted(["class 10", "class 9", "Class 1"], key=natural_key) == ["Class 1", "class 9", "class 10"]
    assert sorted(["1e3", "20", "-5", "a"], key=natural_key) == ["-5", "20", "1e3", "a"]
    assert sorted(["x10y2", "x10y1", "x9y5"], key=natural_key) == ["x9y5", "x10y1", "x10y2"]


@pytest.mark.parametrize("n_classes", [12, 30])
def test_every_section_follows(n_classes):
    X, codes = make_blobs(20 * n_classes, 3, centers=n_classes, cluster_std=2, random_state=0)
    y = codes.astype(str)
    model = GMLVQ(tol=1e-2, max_iter=500, random_state=0).fit(X, y)
    summary, predicted = summarize(model, X, y, X_train=X, y_train=y), model.predict(X)
    names = np.array(summary["data"]["classes"])
    assert names.tolist() == [str(code) for code in range(n_classes)]
    counts = [int((y == name).sum()) for name in names]
    assert summary["data"]["class_counts"] == summary["data"]["train_counts"] == counts
    points = summary["map"]["points"]
    assert np.array_equal(names[points["true"]], y[points["index"]])
    assert np.array_equal(names[points["predicted"]], predicted[points["index"]])
    labels = model.classes_[model.model_.labels]
    assert np.array_equal(names[summary["map"]["prototypes"]["label"]], labels)
    shown = summary["prototypes"]
    assert np.array_equal(names[shown["label"]], labels[shown["index"]])
    assert shown["label"] == sorted(shown["label"])
    np.testing.assert_allclose(
        shown["values"][1][0], model.prototypes_[shown["index"][1]].take(summary["relevance"]["index"])[0], rtol=1e-5
    )
    metrics = summary["metrics"]
    for name, row in zip(names, metrics["by_class"]):
        assert row["sensitivity"]["count"] == int(((y == name) & (predicted == name)).sum())
        assert row["ppv"]["total"] == int((predicted == name).sum())
    for one in summary["explanations"]["least_certain"]:
        assert (names[one["true"]], names[one["predicted"]]) == (y[one["sample"]], predicted[one["sample"]])
    if n_classes == 12:
        expected = confusion_matrix(y, predicted, labels=names)
        assert np.array_equal(np.array(summary["rejection"]["confusion"][0])[:, :-1], expected)
    else:
        for row in summary["rejection"]["by_class"]:
            here = y == names[row["label"]]
            assert row["counts"][0][:2] == [int((predicted == y)[here].sum()), int((predicted != y)[here].sum())]


def test_decisions_and_prices_follow():
    """As the same samples with classes that are numbers, which are in order from the start."""
    X, codes = make_blobs(120, 3, centers=12, cluster_std=2, random_state=0)
    prices = np.random.default_rng(0).uniform(1, 5, (12, 12)) * (1 - np.eye(12))
    order = np.argsort(np.arange(12).astype(str))
    model = GMLVQ(tol=1e-2, max_iter=500, random_state=0)
    by_number = CostClassifier(clone(model), prices).fit(X, codes)
    by_text = CostClassifier(clone(model), prices[np.ix_(order, order)]).fit(X, codes.astype(str))
    expected, found = (summarize(one, X, y)["metrics"] for one, y in ((by_number, codes), (by_text, codes.astype(str))))
    np.testing.assert_allclose(found["prices"], expected["prices"])
    assert found["decisions"]["classes"] == expected["decisions"]["classes"]
    assert found["decisions"]["totals"] == expected["decisions"]["totals"]
    for name in ("correct", "called"):
        difference = np.array(found["decisions"][name]) - np.array(expected["decisions"][name])
        assert np.abs(difference).mean() < 0.2  # prototypes in another order round otherwise


def test_ordered_classes_stay(iris):
    assert in_natural_order(iris.summary, 3) is iris.summary


def test_classes_that_the_model_does_not_know_stay_last():
    X, codes = make_blobs(60, 2, centers=3, random_state=0)
    y = np.array(["10", "9", "1"])[codes]
    model = GMLVQ(tol=1e-2, max_iter=500, random_state=0).fit(X[y != "1"], y[y != "1"])
    assert summarize(model, X, y)["data"]["classes"] == ["9", "10", "1"]
