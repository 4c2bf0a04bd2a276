"""Few samples of many classes in many features, as embeddings are: the plain form, from the class means on."""

import numpy as np
import pytest
from sklearn.metrics import log_loss
from sklearn.neighbors import NearestCentroid
from sklearn.preprocessing import normalize

from lvq import LVQClassifier
from lvq.solvers.state import PART_APART

pytestmark = pytest.mark.filterwarnings("ignore:The number of unique classes")  # scikit-learn's, of one row a class
CLASSES, FEATURES = 30, 80


def draw(rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.RandomState(seed)
    centres = np.random.RandomState(99).normal(size=(CLASSES, FEATURES))
    y = np.repeat(np.arange(CLASSES), rows)
    return normalize(centres[y] + 2 * random.normal(size=(len(y), FEATURES))), y


@pytest.mark.parametrize("factor", [1.0, 1e3])
def test_of_one_row_a_class_prototypes_stay_near_it_and_the_metric_as_it_was(factor):
    (X, y), (new, truth) = draw(1), draw(20, 7)
    model = LVQClassifier(random_state=0).fit(factor * X, y)
    apart = (2 - 2 * np.sort(X @ X.T, axis=1)[:, -2]).mean()
    assert model.form_ == "plain"
    assert (np.square(model.prototypes_ / factor - X).sum(axis=1) < 0.02 * apart).all()
    assert np.allclose(model.model_.relevance * factor**2, 1 / (PART_APART * apart))
    assert log_loss(truth, model.predict_proba(factor * new)) < 0.9 * np.log(CLASSES)


@pytest.mark.parametrize(("groups", "noise", "least"), [(30, 2.0, -0.005), (6, 1.0, 0.001)])
def test_one_row_a_class_beside_the_nearest_class_mean(groups, noise, least):
    """Which is best where classes lie anywhere; where they lie in groups, it helps to move away from those near."""
    gains, y = [], np.arange(CLASSES)
    for seed in range(20):
        random = np.random.RandomState(seed)
        centres = random.normal(size=(groups, FEATURES))[y % groups] + 0.7 * random.normal(size=(CLASSES, FEATURES))
        X, new = (
            normalize(centres[labels] + noise * random.normal(size=(len(labels), FEATURES)))
            for labels in (y, np.tile(y, 30))
        )
        model = LVQClassifier(random_state=0).fit(X, y)
        gains.append(model.score(new, np.tile(y, 30)) - np.mean((new @ X.T).argmax(axis=1) == np.tile(y, 30)))
    assert np.mean(gains) > least


@pytest.mark.parametrize("rows", [2, 12])
def test_more_rows_are_about_as_good_as_the_nearest_class_mean(rows):
    """The best possible rule here, as all classes have the same spread in all directions."""
    new, truth = draw(50, 7)
    gains = []
    for seed in range(3):
        X, y = draw(rows, seed)
        model = LVQClassifier(random_state=0).fit(X, y)
        assert model.form_ == "plain"
        assert not any("additive" in name for name in model.form_scores_)  # fewer samples of a class than features
        assert model.model_.decision.temperature != 1
        gains.append(model.score(new, truth) - NearestCentroid().fit(X, y).score(new, truth))
    assert np.mean(gains) > -0.015
