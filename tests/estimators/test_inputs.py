"""Bad data raise a clear message before any computing, which says what to do."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

from lvq import GLVQ, GMLVQ, LVQ1, LVQClassifier
from lvq.solvers.lbfgs import LBFGS

METHODS = ["predict", "predict_proba", "decision_function", "explain"]


@pytest.mark.parametrize(
    ("scale", "dtype", "word"),
    [(1e160, np.float64, "overflow"), (1e-155, np.float64, "underflow"), (1e-19, np.float32, "underflow")],
)
@pytest.mark.parametrize("model", [GLVQ(), LVQ1(), GMLVQ(solver="online")], ids=str)
def test_values_whose_squares_overflow_or_underflow(model, scale, dtype, word, data):
    """A message that names the class and what to do; never NaN, zero distances, or a warning from NumPy."""
    X, y = data[0].astype(dtype), data[1]
    model, spoiled = clone(model), (scale * X).astype(dtype)
    message = rf"{type(model).__name__} computes squared distances, which {word} .* Scale the features first"
    with pytest.raises(ValueError, match=message):
        model.fit(spoiled, y)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(spoiled, y, classes=[0, 1, 2])
    for name in METHODS if word == "overflow" else ():
        with pytest.raises(ValueError, match=message):
            getattr(clone(model).fit(X, y), name)(spoiled)


def test_one_class(data):
    X, y = data
    with pytest.raises(ValueError, match=r"GLVQ needs samples of at least two classes .* got 1 class: \['oak'\]"):
        GLVQ().fit(X, np.repeat("oak", len(X)))
    with pytest.raises(ValueError, match=r"two classes with a weight above 0, got 1 class: \[0\]"):
        LVQ1().fit(X, y, sample_weight=(y == 0).astype(float))


def test_sparse_data_beside_other_options():
    """Sparse data are supported, but not with every option."""
    X, y = sparse.csr_array(np.eye(4)), [0, 1, 0, 1]
    with pytest.raises(TypeError, match="dense data is required"):
        GLVQ(missing="ignore").fit(X, y)
    pytest.importorskip("torch")
    model = GLVQ(solver=LBFGS(device="cpu"))
    assert not model.__sklearn_tags__().input_tags.sparse
    with pytest.raises(TypeError, match="dense data is required"):
        model.fit(X, y)


# -- what to do --------------------------------------------------------------------------------------------------------

SAMPLES, Y = np.array([[0.0, 1.0], [1.0, 0.0], [3.0, 2.0], [4.0, 3.0]]), np.array([0, 0, 1, 1])


def test_text_names_the_estimator_and_encoders():
    with pytest.raises(ValueError, match=r"GLVQ needs X of numbers, got strings: .*'red'.*TablePreprocessor"):
        GLVQ().fit([["red", 1], ["blue", 2]], [0, 1])


def test_na_among_objects_names_the_type_that_holds_it():
    frame = pd.DataFrame({"a": [0.0, pd.NA, 3.0, 4.0], "b": SAMPLES[:, 1]})
    model = GLVQ(missing="ignore").fit(frame.astype("Float64"), Y)
    for use in (lambda: GLVQ(missing="ignore").fit(frame, Y), lambda: model.predict(frame)):
        with pytest.raises(ValueError, match=r"GLVQ needs X of numbers, got pandas.NA .* by X.astype\('Float64'\)"):
            use()


def test_missing_values_name_their_place_and_both_ways_out():
    late = SAMPLES.copy()
    late[2, 1] = np.nan
    for model in (GLVQ(), GLVQ(solver="online")):
        with pytest.raises(ValueError, match=r"NaN\. The first is in row 2.* column 1\. GLVQ.*SimpleImputer.*'ignore'"):
            model.fit(late, Y)
    with pytest.raises(ValueError, match="row 2, counted from 0, column 'b'"):
        GLVQ().partial_fit(pd.DataFrame(late, columns=["a", "b"]), Y, classes=[0, 1])
    with pytest.raises(ValueError, match=r"contains NaN.*or fit GLVQ\(missing='ignore'\)"):
        GLVQ().fit(SAMPLES, Y).predict(late)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0.0, 0.0, np.nan, 1.0], "contains NaN"),
        (np.array(["a", "a", np.nan, "b"], dtype=object), "contains NaN"),
        (pd.Series(["a", "a", pd.NA, "b"], dtype="string"), "contains NaN"),
        *[(np.array(y, dtype=object), "got NoneType, str") for y in (["a", "a", None, "b"], [None, "a", "a", "b"])],
    ],
)
def test_missing_classes(y, message):
    with pytest.raises(ValueError, match=rf"{message}.* leave out the rows"):
        GLVQ().fit(SAMPLES, y)


@pytest.mark.parametrize("model", [GLVQ(), GMLVQ(), LVQ1(), LVQClassifier()], ids=str)
def test_unscaled_features_are_named(model, data):
    """Three columns that tell the classes apart and noise of 100,000: no model learns anything, and each says why."""
    X, y = data
    X = pd.DataFrame(X[:, :3], columns=["size", "weight", "age"])
    X["income"] = 1e5 * np.random.default_rng(0).normal(size=len(X))
    with pytest.warns(UserWarning, match=rf"{type(model).__name__}: .* to income by .* scale them, .* StandardScaler"):
        clone(model).fit(X, y)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_scaled_features_need_no_warning(metric, data):
    """Also rare categories beside scaled numbers, constant features, rows of any length, and texts."""
    X, y = data
    rare = np.zeros((len(X), 2))
    rare[0, 0] = 1
    rows = np.hstack([(X - X.mean(axis=0)) / X.std(axis=0), rare])
    length = 1 if metric == "euclidean" else 10.0 ** np.random.default_rng(0).uniform(-9, 9, (len(X), 1))
    model = LVQClassifier(metric=metric, relevance=None, n_prototypes=1)
    model.fit((rows + (metric == "cosine")) * length, y)
    model.fit(sparse.csr_array(np.abs(X) * [1, 1, 1e-4, 1e3]), y)
