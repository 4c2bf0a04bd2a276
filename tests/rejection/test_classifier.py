"""RejectClassifier: its parameters, its fitted state, and scikit-learn's tools."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import lvq
from lvq import GLVQ, LVQClassifier
from lvq.rejection import (
    RejectClassifier,
)
from tests.rejection.populations import QUICK, draw

CHECKED = [
    RejectClassifier(LogisticRegression(), cost_ratio=0.3),
    RejectClassifier(GLVQ(), measure="combined", cv=3, thresholds="optimal"),
]


# as a list: from scikit-learn 1.6 the checks come as a generator, which pytest 9 refuses
ALL_CHECKS = parametrize_with_checks(CHECKED)


@pytest.mark.parametrize(ALL_CHECKS.args[0], list(ALL_CHECKS.args[1]), **ALL_CHECKS.kwargs)
def test_scikit_learn(estimator, check):
    check(estimator)


# -- fitted state ------------------------------------------------------------------------------------------------------


class Interrupted(BaseException):
    """Like KeyboardInterrupt, not an Exception."""


@pytest.mark.parametrize("count", range(3))
@pytest.mark.parametrize("cv", [0.3, 3])
def test_an_interrupted_fit_changes_nothing(data, cv, count):
    calls = []

    def interrupting(function):
        def called(estimator, X):
            calls.append(1)
            if len(calls) > limit:
                raise Interrupted
            return function(estimator, X)

        return called

    X, y = data
    frame, limit = pd.DataFrame(X, columns=list("abcd")), np.inf
    safe = RejectClassifier(
        GLVQ(**QUICK),
        measure=interrupting(lambda estimator, Z: estimator.predict_proba(Z).max(axis=1)),
        cv=cv,
    ).fit(frame, y)
    before, reason = dict(vars(safe)), safe.reason(frame)
    calls.clear()
    limit = count if cv == 3 else 0
    with pytest.raises(Interrupted):
        safe.fit(X[::2], np.where(y == "cat", "yak", y)[::2])
    assert vars(safe).keys() == before.keys()
    assert all(vars(safe)[name] is before[name] for name in before)
    limit = np.inf
    assert np.array_equal(safe.reason(frame), reason)
    assert not hasattr(safe.fit(X, y), "feature_names_in_")


def test_a_failed_fit_draws_no_random_numbers(data):
    X, y = data

    def failing(estimator, Z):
        raise Interrupted

    given = np.random.RandomState(0)
    with pytest.raises(Interrupted):
        RejectClassifier(GLVQ(**QUICK), measure=failing, random_state=given).fit(X, y)
    assert given.randint(2**31) == np.random.RandomState(0).randint(2**31)


def outputs(safe, X, y):
    methods = ("predict", "predict_proba", "decision_function", "reason", "accept", "certainty", "cell")
    values = [getattr(safe, name)(X).tolist() for name in methods]
    return [*values, safe.score(X, y), safe.coverage(X), safe.accepted_accuracy(X, y)]


def test_parameters_change_nothing_until_the_next_fit(data):
    X, y = draw(1500, 3)
    safe = RejectClassifier(GLVQ(n_prototypes=2, **QUICK), measure="combined", max_error=0.1, cv=0.3).fit(X, y)
    before = outputs(safe, X, y)
    changed = {
        "measure": "distance",
        "thresholds": "optimal",
        "min_coverage": 0.1,
        "min_accuracy": 0.99,
        "cost_ratio": 0.0,
        "max_error": None,
        "confidence": 0.5,
        "cv": "prefit",
        "random_state": 7,
        "estimator__n_prototypes": 1,
        "estimator__slope": 3,
        "estimator": RidgeClassifier(),
    }
    assert {name for name in changed if "__" not in name} == set(safe.get_params(deep=False))
    for name, value in changed.items():
        safe.set_params(**{name: value})
        assert outputs(safe, X, y) == before, name


@pytest.mark.parametrize("frozen", [False, True])
def test_refitting_a_prefit_estimator_changes_nothing(data, frozen):
    """The guarantee holds for the estimator as it was given, so a copy of it predicts."""
    X, y = draw(1500, 3)
    model = GLVQ(n_prototypes=2, **QUICK).fit(*data)
    safe = RejectClassifier(FrozenEstimator(model) if frozen else model, cv="prefit", max_error=0.1).fit(X, y)
    before = outputs(safe, X, y)
    model.fit(X[:30], np.random.default_rng(0).permutation(y[:30]))
    assert not np.array_equal(model.predict(X), safe.predict(X))
    assert outputs(safe, X, y) == before
    assert safe.estimator is not safe.estimator_


def test_another_model_needs_another_calibration(data, tmp_path):
    """Thresholds belong to the model of calibration: one that has changed is an error, not a silent answer."""
    X, y = data
    model = LVQClassifier(form="plain", random_state=0).fit(X, y)
    safe = RejectClassifier(model, cv="prefit").fit(X, y)
    new, own = X[:20] - 5, safe.estimator_
    own.add_class(new, "fox")
    for name in ("predict", "predict_proba", "decision_function", "accept", "certainty", "cell", "predict_or_reject"):
        with pytest.raises(ValueError, match="must be calibrated again, because the model of its estimator_ has"):
            getattr(safe, name)(X)
    own.remove_class("fox")
    lvq.save(safe, tmp_path / "safe.lvq")
    for again in (safe, lvq.load(tmp_path / "safe.lvq"), pickle.loads(pickle.dumps(safe))):
        assert len(again.accept(X)) == len(X)
        again.estimator_.remove_class("cat").add_class(new, "cat")
        with pytest.raises(ValueError, match="must be calibrated again"):
            again.accept(X)
    assert len(RejectClassifier(own, cv="prefit").fit(X, y).accept(X)) == len(X)


def test_a_batch_of_known_classes_needs_another_calibration(data):
    X, y = data
    stream = make_pipeline(StandardScaler(), GLVQ(**QUICK)).fit(X, y)
    safe = RejectClassifier(stream, cv="prefit", max_error=0.3).fit(X, y)
    safe.estimator_[-1].partial_fit(X[:50], y[:50])
    with pytest.raises(ValueError, match="must be calibrated again"):
        safe.predict(X)


# -- scikit-learn's tools ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, lambda c: pytest.importorskip("pyarrow").table(c)])
def test_frames(data, frame):
    X, y = data
    table = frame(dict(zip("abcd", X.T)))
    for cv in (0.3, 2):
        safe = RejectClassifier(make_pipeline(StandardScaler(), GLVQ(**QUICK)), cv=cv).fit(table, y)
        plain = RejectClassifier(make_pipeline(StandardScaler(), GLVQ(**QUICK)), cv=cv).fit(X, y)
        assert safe.feature_names_in_.tolist() == list("abcd")
        assert np.array_equal(safe.accept(table), plain.accept(X))
        assert np.array_equal(safe.predict(table), plain.predict(X))
    with pytest.raises(ValueError, match="feature names"):
        safe.accept(frame(dict(zip("abce", X.T))))


def test_sample_weight_reaches_the_estimator(data):
    X, y = data
    weight = np.where(np.arange(600) % 3 == 0, 0.0, np.random.default_rng(0).random(600) + 0.5)
    for cv in (0.3, 3):
        safe = RejectClassifier(LogisticRegression(), cv=cv).fit(X, y, sample_weight=weight)
        only = RejectClassifier(LogisticRegression(), cv=cv).fit(X[weight > 0], y[weight > 0], weight[weight > 0])
        assert safe.path_.n_samples == only.path_.n_samples
    assert not np.allclose(safe.estimator_.coef_, LogisticRegression().fit(X, y).coef_)
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    inside = RejectClassifier(pipeline, cv=3).fit(X, y, logisticregression__sample_weight=weight)
    expected = pipeline.fit(X, y, logisticregression__sample_weight=weight)[-1].coef_
    np.testing.assert_allclose(inside.estimator_[-1].coef_, expected)


# -- refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"min_coverage": 0.9, "max_error": 0.1},
            "takes one of min_coverage, min_accuracy, cost_ratio, max_error, got min_cov",
        ),
        ({"max_error": 1.0}, "The 'max_error' parameter of RejectClassifier must be .* Got 1.0"),
        ({"measure": "entropy"}, "The 'measure' parameter of RejectClassifier must be"),
        ({"max_error": [0.1, 2.0]}, "max_error must be strictly between 0 and 1, got 2.0"),
        ({"cv": 3, "max_error": 0.1}, "cv of RejectClassifier must be a fraction of the samples or 'prefit' where max"),
        ({"confidence": 95}, "The 'confidence' parameter of RejectClassifier must be"),
        ({"cv": 0.001}, "found no sample to calibrate on among n_samples = 600"),
        ({"estimator": 3}, "The 'estimator' parameter of RejectClassifier must be .* Got 3"),
    ],
)
def test_refused(data, parameters, message):
    with pytest.raises(ValueError, match=message):
        RejectClassifier(**{"estimator": GLVQ(**QUICK), **parameters}).fit(*data)


def test_refused_data(data):
    X, y = data
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        RejectClassifier(GLVQ()).fit(X, None)
    with pytest.raises(ValueError, match=r"sample_weight.shape == \(3,\), expected \(600,\)"):
        RejectClassifier(GLVQ()).fit(X, y, [1, 2, 3])
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        RejectClassifier(GLVQ()).fit(X, y, -np.ones(600))
    assert RejectClassifier(GLVQ(**QUICK), cv=[(np.arange(300), np.arange(300, 600))]).fit(X, y).path_.n_samples == 300
    with pytest.raises(AttributeError, match="predict_proba"):
        RejectClassifier(RidgeClassifier()).fit(X, y).predict_proba(X)
