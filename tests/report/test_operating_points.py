"""Operating points: counts, thresholds and order."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from lvq import GLVQ
from lvq.rejection import certainty, confusion_with_reject
from lvq.report import summarize
from lvq.report.operating_points import MAX_CLASS_ROWS


@pytest.mark.parametrize("case", ["wdbc", "digits", "iris"])
def test_numbers_are_counted_on_the_masks(case, cases, accepted_at):
    case = cases[case]
    predicted, rejection = case.model.predict(case.X), case.summary["rejection"]
    labels = np.unique(case.y)
    assert rejection["coverage"][0] == 1
    assert rejection["coverage"] == sorted(rejection["coverage"], reverse=True)
    for point in range(len(rejection["coverage"])):
        accepted = accepted_at(case.summary, point)
        assert rejection["n_accepted"][point] == accepted.sum()
        assert rejection["coverage"][point] == accepted.mean()
        assert rejection["accuracy"][point] == (predicted == case.y)[accepted].mean()
        expected = confusion_with_reject(case.y, predicted, accepted, labels=labels).matrix
        assert rejection["confusion"][point] == expected.tolist()


@pytest.mark.parametrize("case", ["digits", "iris"])
def test_a_model_without_rejection_has_one_threshold(case, cases, accepted_at):
    case = cases[case]
    values = certainty(case.model, case.X)
    for point, (low, high) in enumerate(case.summary["rejection"]["threshold"]):
        expected = values >= (-np.inf if low is None else low)
        np.testing.assert_array_equal(accepted_at(case.summary, point), expected)
        assert low == high


@pytest.mark.parametrize("case", ["wdbc", "digits", "iris"])
def test_no_point_has_fewer_than_ten_accepted_samples(case, cases):
    rejection = cases[case].summary["rejection"]
    others = [n for point, n in enumerate(rejection["n_accepted"]) if point != rejection["fitted"]]
    assert 10 <= min(others) <= 0.3 * max(others)


def test_the_point_as_fitted_accepts_what_the_model_accepts(wdbc, accepted_at):
    np.testing.assert_array_equal(
        accepted_at(wdbc.summary, wdbc.summary["rejection"]["fitted"]), wdbc.model.accept(wdbc.X)
    )


def test_points_are_on_the_path_of_the_model(wdbc, accepted_at):
    """Every mask is that of a point of the path."""
    values, cell, path = wdbc.model.certainty(wdbc.X), wdbc.model.cell(wdbc.X), wdbc.model.path_
    masks = {path.point(index).accept(values, cell).tobytes() for index in range(len(path))}
    n_points = len(wdbc.summary["rejection"]["coverage"])
    assert n_points > 10
    assert all(accepted_at(wdbc.summary, point).tobytes() in masks for point in range(n_points))


def test_many_classes_have_one_row_each(accepted_at):
    samples, labels = make_blobs(600, centers=80, n_features=5, cluster_std=3, random_state=0)
    model = GLVQ(random_state=0, max_iter=5, tol=1.0).fit(samples, labels)
    summary = summarize(model, samples, labels)
    rejection = summary["rejection"]
    assert rejection["confusion"] is None
    assert len(rejection["by_class"]) == MAX_CLASS_ROWS + 1
    predicted = model.predict(samples)
    for point in (0, len(rejection["coverage"]) // 2):
        accepted = accepted_at(summary, point)
        table = np.array([row["counts"][point] for row in rejection["by_class"]])
        sides = (accepted & (predicted == labels), accepted & (predicted != labels), ~accepted)
        np.testing.assert_array_equal(table.sum(axis=0), [side.sum() for side in sides])
        row = rejection["by_class"][0]
        assert row["counts"][point][2] == (~accepted & (labels == row["label"])).sum()
