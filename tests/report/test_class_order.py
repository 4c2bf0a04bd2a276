"""Natural order of the classes: every section names the same classes as before."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import confusion_matrix

from lvq import GMLVQ
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
    assert np.array_equal(names[summary["prototypes"]["label"]], labels[summary["prototypes"]["index"]])
    for one in summary["explanations"]["least_certain"]:
        assert (names[one["true"]], names[one["predicted"]]) == (y[one["sample"]], predicted[one["sample"]])
    if n_classes == 12:
        expected = confusion_matrix(y, predicted, labels=names)
        assert np.array_equal(np.array(summary["rejection"]["confusion"][0])[:, :-1], expected)
    else:
        for row in summary["rejection"]["by_class"]:
            here = y == names[row["label"]]
            assert row["counts"][0][:2] == [int((predicted == y)[here].sum()), int((predicted != y)[here].sum())]


def test_ordered_classes_stay(iris):
    assert in_natural_order(iris.summary) is iris.summary
