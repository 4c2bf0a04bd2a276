"""Log-loss, calibration error and its bins equal those by hand."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

from lvq import GLVQ, LVQClassifier
from lvq.report import summarize
from lvq.report.probabilities import calibration_bins, calibration_chart, calibration_error, probability_section


def test_bins_by_hand():
    random = np.random.default_rng(0)
    probability, correct = random.uniform(0.2, 1, 500), random.random(500) < 0.7
    probability[0] = 1.0
    bins, total = calibration_bins(probability, correct), 0.0
    assert bins["n_samples"].sum() == 500
    for place, low in enumerate(np.arange(2, 10)):
        inside = (probability >= low / 10) & ((probability < (low + 1) / 10) | (low == 9))
        assert bins["n_samples"][place] == inside.sum()
        assert bins["accuracy"][place] == pytest.approx(correct[inside].mean())
        assert bins["probability"][place] == pytest.approx(probability[inside].mean())
        total += inside.sum() * abs(correct[inside].mean() - probability[inside].mean())
    assert calibration_error(probability, correct) == pytest.approx(total / 500)


def test_the_section_of_the_report(iris):
    part = iris.summary["probabilities"]
    table = iris.model.predict_proba(iris.X)
    assert part["log_loss"] == pytest.approx(log_loss(iris.y, table))
    correct = iris.model.classes_[table.argmax(axis=1)] == np.asarray(iris.y)
    assert part["calibration_error"] == pytest.approx(calibration_error(table.max(axis=1), correct))
    assert sum(part["n_samples"]) == len(iris.y)
    points = calibration_chart(part)["layer"][1]["data"]["values"]
    assert len(points) == len(part["n_samples"])


def test_classes_that_the_model_does_not_know_are_wrong():
    class Sure:
        def predict_proba(self, X):
            return np.tile([0.9, 0.1], (len(X), 1))

    part = probability_section(Sure(), np.zeros((4, 1)), np.array([0, 0, 0, 2]))
    assert part["accuracy"].tolist() == [0.75]
    assert part["log_loss"] == pytest.approx(-(3 * np.log(0.9) + np.log(1e-6)) / 4)
    assert probability_section(object(), np.zeros((4, 1)), np.zeros(4, dtype=int)) is None


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda X, y: GLVQ(tol=1.0, random_state=0).fit(X, y), "scores and not calibrated; here"),
        (lambda X, y: LVQClassifier(tol=1.0, random_state=0).fit(X, y), "calibrated by a temperature"),
    ],
    ids=["plain", "temperature"],
)
def test_the_limits_say_whether_probabilities_are_calibrated(make, expected):
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = rng.normal(size=(120, 2)) + y[:, None]
    found = [sentence for sentence in summarize(make(X, y), X, y)["limits"] if "probabilities" in sentence]
    assert len(found) == 1
    assert expected in found[0]
    assert ("not calibrated" in found[0]) == ("not" in expected)
