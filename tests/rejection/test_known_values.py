"""Missing values lower the certainty of RejectClassifier, and samples with too little known are rejected."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from lvq import GLVQ
from lvq.persistence import load, save
from lvq.rejection import RejectClassifier, certainty
from lvq.rejection.known_values import TOO_LITTLE, known_fraction, lowered, missing_cells, missing_counts


def table(n_samples, seed, missing=0.1):
    """Two classes in six features, of which the last is missing in half of the samples."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_samples)
    X = rng.normal(size=(n_samples, 6)) + 1.5 * y[:, None]
    rates = np.array([missing] * 5 + [0.5])
    return np.where(rng.random(X.shape) < rates, np.nan, X), y


def imputing(last=None):
    """A pipeline as users write it."""
    return make_pipeline(SimpleImputer(), StandardScaler(), last or GLVQ(random_state=0))


@pytest.fixture(scope="module")
def fitted():
    return RejectClassifier(imputing(), min_coverage=0.9).fit(*table(400, 0))


def test_certainty_is_multiplied_by_the_known_fraction(fitted):
    X, _ = table(100, 1)
    usual = fitted.usual_missing_
    assert 0.7 < usual < 1.3
    known = np.minimum(1, (6 - np.isnan(X).sum(axis=1)) / (6 - usual))
    np.testing.assert_allclose(fitted.known_fraction(X), known)
    np.testing.assert_allclose(fitted.certainty(X), known * certainty(fitted.estimator_, X))
    assert (known < 1).any()


def test_too_little_known_is_the_reason(fitted):
    X, _ = table(50, 2, missing=0.0)
    X[:10, 1:] = np.nan
    reason = fitted.reason(X)
    assert set(reason[:10]) == {TOO_LITTLE}
    assert TOO_LITTLE not in reason[10:]
    assert not fitted.accept(X[:10]).any()


def test_samples_without_missing_values_are_not_affected():
    X, y = table(400, 3)
    complete = np.nan_to_num(X)
    counted = RejectClassifier(imputing()).fit(complete, y)
    not_counted = RejectClassifier(imputing(), min_known=None).fit(complete, y)
    assert np.array_equal(counted.point_.thresholds, not_counted.point_.thresholds)
    assert np.array_equal(counted.certainty(complete), not_counted.certainty(complete))


def test_none_turns_it_off():
    X, y = table(300, 4)
    model = RejectClassifier(imputing(), min_known=None).fit(X, y)
    np.testing.assert_array_equal(model.certainty(X), certainty(model.estimator_, X))
    assert (model.min_known_, model.usual_missing_) == (None, 0.0)
    np.testing.assert_allclose(model.known_fraction(X), 1 - np.isnan(X).mean(axis=1))
    X[:, 1:] = np.nan
    assert TOO_LITTLE not in model.reason(X)


@pytest.mark.parametrize("options", [{}, {"cv": 3}, {"cv": "prefit"}, {"cv": 3, "measure": "combined"}])
def test_the_coverage_includes_samples_with_too_little_known(options):
    """A tenth of all samples has one value; of the others more are accepted."""

    def drawn(seed):
        X, y = table(600, seed)
        X[::10, 1:] = np.nan
        X[::10, 0] = 0.0
        return X, y

    estimator = imputing().fit(*drawn(9)) if options.get("cv") == "prefit" else imputing()
    model = RejectClassifier(estimator, min_coverage=0.8, **options).fit(*drawn(0))
    realised = np.mean([model.coverage(drawn(seed)[0]) for seed in range(1, 6)])
    assert abs(realised - 0.8) < 0.06  # three standard deviations of 180 calibration samples and 3,000 new ones
    assert (model.reason(drawn(1)[0])[::10] == TOO_LITTLE).all()


def test_a_guarantee_counts_accepted_samples_only():
    X, y = table(800, 5)
    X[::10, 1:] = np.nan
    y[::10] = np.random.default_rng(0).integers(0, 2, 80)  # the class of such samples is not known
    model = RejectClassifier(imputing(), max_error=0.1, calibration_size=0.5).fit(X, y)
    new, labels = table(2000, 6)
    assert 1 - model.accepted_accuracy(new, labels) < 0.1


def test_columns_that_do_not_reach_the_model_do_not_count():
    X, y = table(200, 7)
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(note=None, kind=np.where(y == 1, "x", "y"))
    steps = make_column_transformer(
        (SimpleImputer(), list("abcdef")), (OneHotEncoder(sparse_output=False, handle_unknown="ignore"), ["kind"])
    )
    model = RejectClassifier(make_pipeline(steps, GLVQ(random_state=0))).fit(frame, y)
    full = pd.DataFrame(np.zeros((1, 6)), columns=list("abcdef")).assign(note=None, kind="x")
    assert model.known_fraction(full).tolist() == [1.0]
    gone = full.assign(kind="(missing)", a=np.nan, b=np.nan, c=np.nan)
    np.testing.assert_allclose(model.known_fraction(gone), 3 / (7 - model.usual_missing_))


def test_fewer_features_than_columns():
    X, y = table(200, 8)
    model = RejectClassifier(make_pipeline(SimpleImputer(), PCA(2), GLVQ(random_state=0))).fit(X, y)
    assert (model.known_fraction(np.zeros((3, 6))) == 1).all()
    assert model.known_fraction(X).min() < 1


def test_a_model_that_ignores_missing_values():
    X, y = table(200, 9)
    model = RejectClassifier(GLVQ(missing="ignore", random_state=0)).fit(X, y)
    X[0, 1:] = np.nan
    assert model.reason(X)[0] == TOO_LITTLE


def test_stored(fitted, tmp_path):
    save(fitted, tmp_path / "model.lvq")
    X, _ = table(60, 10)
    again = load(tmp_path / "model.lvq")
    assert again.usual_missing_ == fitted.usual_missing_
    np.testing.assert_array_equal(again.reason(X), fitted.reason(X))


def test_missing_cells_of_every_kind_of_table():
    expected = [[False, True, False], [True, False, False]]
    numbers = np.array([[1.0, np.nan, 2.0], [np.nan, 3.0, 4.0]])
    frame = pd.DataFrame({"a": [1.0, np.nan], "b": [None, "(missing) "], "c": pd.to_datetime(["2020-01-01"] * 2)})
    assert missing_cells(numbers).tolist() == expected
    assert missing_cells(numbers.astype(object)).tolist() == expected
    assert missing_cells(csr_array(numbers)).toarray().tolist() == expected
    assert missing_cells(["a text", None, "(missing)"]).tolist() == [[False], [True], [True]]
    assert missing_cells(pd.Series(["a text", None])).tolist() == [[False], [True]]
    assert missing_cells(frame).tolist() == expected
    assert missing_cells(frame.convert_dtypes()).tolist() == expected
    assert not missing_cells([[1, 2], [3, 4]]).any()
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    assert missing_cells(polars.DataFrame({"a": [1.0, None], "b": [None, "x"], "c": [1, 2]})).tolist() == expected
    assert missing_cells(pyarrow.table({"a": [1.0, None], "b": [None, "x"], "c": [1, 2]})).tolist() == expected


def test_missing_counts_of_many_sparse_columns():
    """A dense table of these cells would have 10^12 of them."""
    X = csr_array(([np.nan, np.nan, 1.0], ([0, 0, 2], [5, 10**6 - 1, 7])), shape=(10**6, 10**6))
    counts, n_columns = missing_counts(GLVQ(), X)
    assert counts[:3].tolist() == [2.0, 0.0, 0.0]
    assert n_columns == 10**6


def test_texts():
    """A pipeline that begins with a vectorizer takes one text for each sample."""
    y = np.arange(60) % 2
    texts = [f"{'red' if label else 'blue'} {'very' if index % 3 else 'quite'}" for index, label in enumerate(y)]
    model = make_pipeline(TfidfVectorizer(), GLVQ(random_state=0))
    for given in (texts, np.array(texts, dtype=object), pd.Series(texts)):
        rejecting = RejectClassifier(model, min_coverage=0.9, random_state=0).fit(given, y)
        np.testing.assert_array_equal(rejecting.predict(given), y)
        assert rejecting.known_fraction(given).tolist() == [1.0] * 60


def test_an_entirely_missing_row_has_a_finite_certainty():
    known = known_fraction(np.array([4.0]), 4, 0.0)
    assert known.tolist() == [0.0]
    assert np.isfinite(lowered(np.array([-1.0]), known)).all()


def test_message():
    with pytest.raises(ValueError, match="min_known"):
        RejectClassifier(GLVQ(), min_known=2).fit(*table(20, 0))


@pytest.mark.parametrize(("n_missing", "enough"), [(2, True), (3, True), (4, False)])
def test_a_sample_with_just_the_known_fraction_is_not_rejected_for_it(n_missing, enough):
    X, y = table(400, 3)
    safe = RejectClassifier(imputing(), min_known=0.5).fit(np.nan_to_num(X), y)
    rows = np.nan_to_num(table(50, 4)[0])
    rows[:, :n_missing] = np.nan
    assert safe.usual_missing_ == 0
    np.testing.assert_array_equal(safe.known_fraction(rows), (6 - n_missing) / 6)
    assert (TOO_LITTLE in safe.reason(rows)) is not enough
