"""Calibrated probabilities of LVQClassifier: cross-fitted, and without effect on predictions and scores."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss

import lvq
from lvq import LVQClassifier
from lvq.estimators.calibration import N_FOLDS, fold_numbers
from lvq.model.temperature import fitted_temperature


def noisy(seed, noise=0.3, n_samples=240, n_classes=2):
    """Two or more Gaussian classes, a part of the labels drawn at random."""
    random = np.random.default_rng(seed)
    y = np.arange(n_samples) % n_classes
    X = random.normal(size=(n_samples, 4)) + 2.0 * np.eye(4)[y]
    drawn = random.random(n_samples) < noise
    return X, np.where(drawn, random.integers(0, n_classes, n_samples), y)


def fit(model, X, y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, **options)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "settings",
    [{}, {"cost": "mce"}, {"cost": "glvq"}, {"cost": "rslvq", "decision": "posterior"}, {"relevance": None}],
    ids=["default", "mce", "glvq", "posterior", "plain"],
)
def test_only_probabilities_change(settings, n_classes):
    X, y = noisy(0, n_classes=n_classes)
    model = LVQClassifier(max_iter=20, random_state=0, **settings)
    plain, calibrated = fit(clone(model).set_params(calibration=None), X, y), fit(model, X, y)
    for name in ("predict", "decision_function"):
        np.testing.assert_array_equal(getattr(calibrated, name)(X), getattr(plain, name)(X))
    np.testing.assert_array_equal(calibrated.classes_[calibrated.predict_proba(X).argmax(axis=1)], plain.predict(X))
    temperature = calibrated.model_.decision.temperature
    assert plain.model_.decision.temperature == 1 != temperature
    raised = plain.predict_proba(X) ** (1 / temperature)
    np.testing.assert_allclose(calibrated.predict_proba(X), raised / raised.sum(axis=1, keepdims=True), rtol=1e-9)
    if n_classes == 2 and "cost" not in settings:
        expected = expit(calibrated.decision_function(X) / temperature)
        np.testing.assert_allclose(calibrated.predict_proba(X)[:, 1], expected)


@pytest.mark.parametrize("cost", ["logm", "mce", "glvq"])
def test_the_loss_of_new_samples_falls_where_labels_are_noisy(cost):
    """On the mean of five draws, and by a third of what the best temperature in hindsight could bring."""
    losses = []
    for seed in range(5):
        X, y = noisy(seed)
        X_test, y_test = noisy(seed + 100, n_samples=2000)
        model = fit(LVQClassifier(cost=cost, max_iter=30, random_state=0), X, y)
        plain = replace(model.model_, decision=replace(model.model_.decision, temperature=1.0))
        table = plain.predict_proba(X_test)
        hindsight = fitted_temperature(np.log(table), y_test, np.ones(len(y_test)))
        best = replace(plain, decision=replace(plain.decision, temperature=hindsight))
        losses.append([log_loss(y_test, part.predict_proba(X_test)) for part in (plain, model.model_, best)])
    before, after, limit = np.mean(losses, axis=0)
    assert before - after > (before - limit) / 3
    assert after < before


def test_it_is_the_temperature_of_fits_without_the_samples():
    X, y = noisy(1)
    model = fit(LVQClassifier(n_prototypes=2, max_iter=12, random_state=0), X, y)
    fold, table = fold_numbers(X, y, np.array([6, 6])), np.zeros((len(y), 2))
    for number in range(N_FOLDS):
        inner = LVQClassifier(n_prototypes=2, max_iter=12, random_state=0, calibration=None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            inner.fit(X[fold != number], y[fold != number])
        table[fold == number] = inner.predict_proba(X[fold == number])
    expected = fitted_temperature(np.log(table), y, np.ones(len(y)))
    assert model.model_.decision.temperature == pytest.approx(expected, rel=0.02)  # lbfgs runs once in a short fit


def test_folds():
    """Each class in equal parts; copies in different folds; the same for any unit of the features."""
    X = np.repeat(np.random.default_rng(0).normal(size=(40, 3)), 2, axis=0)
    y = np.repeat(np.arange(40) % 2, 2)
    fold = fold_numbers(X, y, np.array([6, 6]))
    assert [np.bincount(fold[y == label]).tolist() for label in (0, 1)] == [[14, 13, 13]] * 2
    assert (fold[::2] != fold[1::2]).all()
    np.testing.assert_array_equal(fold_numbers(1e3 * X, y, np.array([6, 6])), fold)
    assert (fold_numbers(X, y, np.array([6, 21]))[y == 1] == -1).all()


@pytest.mark.parametrize("case", ["few samples", "one class has enough samples"])
def test_too_few_samples_are_not_calibrated(case):
    X, y = noisy(0, n_samples=49 if case == "few samples" else 60)
    if case != "few samples":
        y = (np.arange(60) < 5).astype(int)
    model = fit(LVQClassifier(max_iter=5, random_state=0), X, y)
    assert model.model_.decision.temperature == 1


def test_a_rare_class_is_left_out_without_a_warning():
    """In the folds it would have fewer samples than prototypes."""
    X, y = noisy(0, n_classes=3)
    y = np.where((y == 2) & (np.cumsum(y == 2) > 3), 1, y)
    assert np.bincount(y)[2] == 3
    model = fit(LVQClassifier(max_iter=5, n_prototypes=3, random_state=0), X, y)
    assert model.model_.decision.temperature != 1
    assert model.predict_proba(X)[:, 2].max() > 0


def test_weights_count():
    """Samples of no weight are left out, and the temperature follows those of large weight."""
    X, y = noisy(0)
    clean, pure = noisy(1, noise=0.0)
    both, labels = np.vstack([X, clean]), np.append(y, pure)
    weight = np.where(np.arange(len(labels)) < len(y), 1.0, 1e-3)
    model = LVQClassifier(max_iter=20, random_state=0)
    noisy_one = fit(clone(model), both, labels, sample_weight=weight).model_.decision.temperature
    clean_one = fit(clone(model), both, labels, sample_weight=weight[::-1]).model_.decision.temperature
    assert noisy_one > 1.2 * clean_one
    zero = fit(clone(model), both, labels, sample_weight=(weight == 1).astype(float)).model_.decision.temperature
    assert zero == fit(model, X, y).model_.decision.temperature


@pytest.mark.parametrize("kind", ["float32", "sparse", "online", "adam", "missing", "prices", "balanced", "named"])
def test_kinds_of_data_and_settings(kind):
    X, y = noisy(0)
    settings = {
        "sparse": {"cost": "logm"},  # convex in the margin, so that rounding does not lead elsewhere
        "online": {"solver": "online"},
        "adam": {"solver": "adam"},
        "missing": {"missing": "ignore"},
        "prices": {"cost_matrix": [[0, 5], [1, 0]]},
        "balanced": {"class_weight": "balanced"},
    }.get(kind, {})
    if kind == "missing":
        X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    given = {"float32": X.astype(np.float32), "sparse": sparse.csr_array(X)}.get(kind, X)
    labels = np.array(["no", "yes"])[y] if kind == "named" else y
    model = fit(LVQClassifier(max_iter=10, random_state=0, **settings), given, labels)
    assert model.model_.decision.temperature != 1
    table = model.predict_proba(given)
    assert table.dtype == given.dtype
    np.testing.assert_array_equal(model.classes_[table.argmax(axis=1)], model.predict(given))
    if kind == "sparse":
        plain = fit(LVQClassifier(max_iter=10, random_state=0, cost="logm"), X, y)
        assert model.model_.decision.temperature == pytest.approx(plain.model_.decision.temperature, rel=0.05)


def test_tensors():
    torch = pytest.importorskip("torch")
    X, y = noisy(0)
    plain = fit(LVQClassifier(cost="logm", max_iter=10, random_state=0), X, y)
    model = fit(LVQClassifier(cost="logm", max_iter=10, random_state=0), torch.as_tensor(X), torch.as_tensor(y))
    assert model.model_.decision.temperature == pytest.approx(plain.model_.decision.temperature, rel=0.05)


def test_many_samples_are_drawn(monkeypatch):
    monkeypatch.setattr("lvq.estimators.calibration.MAX_SAMPLES", 100)
    X, y = noisy(0)
    model = fit(LVQClassifier(max_iter=10, random_state=0), X, y)
    assert 0.5 < model.model_.decision.temperature < 8


def test_a_stream_keeps_the_temperature():
    X, y = noisy(0)
    model = fit(LVQClassifier(ridge=0, max_iter=10, random_state=0), X, y)
    before = model.model_.decision.temperature
    model.partial_fit(X[:50], y[:50])
    assert model.model_.decision.temperature == before != 1
    stream = LVQClassifier(ridge=0, random_state=0).partial_fit(X, y, classes=[0, 1])
    assert stream.model_.decision.temperature == 1


def test_it_is_stored(tmp_path):
    X, y = noisy(0)
    model = fit(LVQClassifier(max_iter=10, random_state=0), X, y)
    lvq.save(model, tmp_path / "model.lvq")
    np.testing.assert_array_equal(lvq.load(tmp_path / "model.lvq").predict_proba(X), model.predict_proba(X))
    model.model_.save(tmp_path / "model.npz")
    np.testing.assert_array_equal(
        lvq.PrototypeModel.load(tmp_path / "model.npz").predict_proba(X), model.predict_proba(X)
    )


def test_the_parameter():
    with pytest.raises(ValueError, match="'calibration' parameter of LVQClassifier must be"):
        LVQClassifier(calibration="isotonic").fit(*noisy(0))
