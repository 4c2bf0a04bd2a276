"""Bad input raises a clear message before any computing: which parameter of which class must be what."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils._param_validation import InvalidParameterError

from lvq import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LOGM, LVQ1, LVQ3, LVQ21, MCE, OLVQ1, RLVQ, RSLVQ, SNPC, LVQClassifier
from lvq.model.relevance import GradientRelevance, MatrixRelevance

METHODS = ["predict", "predict_proba", "decision_function", "explain"]


# -- data --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("bad", "message"), [(np.nan, "Input X contains NaN"), (np.inf, "Input X contains infinity")])
def test_nan_and_infinite_values(default, bad, message, data):
    X, y = data
    spoiled = X.copy()
    spoiled[5, 2] = bad
    with pytest.raises(ValueError, match=message):
        default.fit(spoiled, y)
    assert not hasattr(default, "prototypes_")
    default.fit(X, y)
    for method in METHODS:
        with pytest.raises(ValueError, match=message):
            getattr(default, method)(spoiled)


@pytest.mark.parametrize("large", [1e300, -1e300, 1e150])
def test_values_whose_squares_overflow(default, large, data):
    """A message that names the class and what to do; never NaN, never a warning from NumPy."""
    X, y = data
    spoiled = X.copy()
    spoiled[5, 2] = large
    message = rf"{type(default).__name__} computes squared distances, which overflow .* Scale the features first"
    with pytest.raises(ValueError, match=message):
        default.fit(spoiled, y)
    with pytest.raises(ValueError, match=message):
        default.partial_fit(spoiled, y, classes=[0, 1, 2])
    default.fit(X, y)
    for method in METHODS:
        with pytest.raises(ValueError, match=message):
            getattr(default, method)(spoiled)
    with pytest.raises(ValueError, match=message):
        default.partial_fit(spoiled, y)


def test_values_whose_squares_overflow_in_float32(default, data):
    X, y = data
    spoiled = X.astype(np.float32)
    spoiled[5, 2] = 1e25
    with pytest.raises(ValueError, match=rf"{type(default).__name__} .* overflow .* float32"):
        default.fit(spoiled, y)


@pytest.mark.parametrize("scale", [1e100, 1e140])
def test_large_values_below_the_limit_work(default, scale, data):
    X, y = data
    default.fit(scale * X, y)
    assert np.isfinite(default.prototypes_).all()
    assert np.isfinite(default.predict_proba(scale * X)).all()
    assert default.score(scale * X, y) > 0.5


@pytest.mark.parametrize(
    ("dtype", "scale"), [(np.float32, 1e-19), (np.float32, 1e-20), (np.float64, 1e-155), (np.float64, 1e-200)]
)
@pytest.mark.parametrize("cls", [GLVQ, MCE, RSLVQ, LVQ1, LVQClassifier])
def test_values_whose_squares_underflow(cls, dtype, scale, data):
    """All distances would be zero, and the model would be wrong or NaN without a warning."""
    X, y = (scale * data[0]).astype(dtype), data[1]
    message = rf"{cls.__name__} computes squared distances, which underflow .* Scale the features first"
    with pytest.raises(ValueError, match=message):
        cls().fit(X, y)
    if cls is not LVQClassifier:
        with pytest.raises(ValueError, match=message):
            cls().partial_fit(X, y, classes=[0, 1, 2])


@pytest.mark.parametrize(("dtype", "scale"), [(np.float32, 1e-13), (np.float64, 1e-140)])
@pytest.mark.parametrize(
    "model", [GLVQ(), GLVQ(solver="adam"), MCE(), RSLVQ(), LVQ1(), GMLVQ(solver="online")], ids=repr
)
def test_small_values_above_the_limit_work(model, dtype, scale, data):
    X, y = (scale * data[0]).astype(dtype), data[1]
    model = clone(model).set_params(random_state=0, max_iter=20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert model.score(X, y) > 0.7


def test_constant_data_have_no_range(default):
    """They are not refused as too small: a constant can be of any size."""
    X, y = np.full((6, 2), 1e-300), [0, 1, 0, 1, 0, 1]
    assert np.isfinite(default.set_params(max_iter=2).fit(X, y).predict_proba(X)).all()


def test_transform_refuses_large_values(data):
    X, y = data
    model = GMLVQ(solver="online", max_iter=2).fit(X, y)
    with pytest.raises(ValueError, match="GMLVQ computes squared distances, which overflow"):
        model.transform(np.full((1, 4), 1e300))


def test_one_class(default, data):
    X, _ = data
    name = type(default).__name__
    with pytest.raises(ValueError, match=f"{name} needs samples of at least two classes, got 1 class: oak"):
        default.fit(X, np.repeat("oak", len(X)))


def test_one_class_because_of_the_weights(default, data):
    X, y = data
    with pytest.raises(ValueError, match=r"got 1 class: 0\. Samples of weight 0 do not count"):
        default.fit(X, y, sample_weight=(y == 0).astype(float))


def test_other_widths(default, data):
    X, y = data
    default.fit(X, y)
    for method in METHODS:
        with pytest.raises(ValueError, match=rf"X has 3 features, but {type(default).__name__} is expecting 4"):
            getattr(default, method)(X[:, :3])


@pytest.mark.parametrize("method", METHODS)
def test_not_fitted(default, method, data):
    with pytest.raises(NotFittedError, match=f"This {type(default).__name__} instance is not fitted yet"):
        getattr(default, method)(data[0])


def test_transform_is_not_fitted(data):
    with pytest.raises(NotFittedError, match="This GMLVQ instance is not fitted yet"):
        GMLVQ().transform(data[0])
    with pytest.raises(NotFittedError, match="This GMLVQ instance is not fitted yet"):
        GMLVQ().get_feature_names_out()


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.zeros((4, 2)), [0, 1, 0], "inconsistent numbers of samples"),
        (np.zeros(4), [0, 1, 0, 1], "Expected 2D array, got 1D array"),
        (np.zeros((2, 2, 2)), [0, 1], r"[Ff]ound array with dim 3"),
        (np.zeros((0, 2)), [], r"Found array with 0 sample"),
        (np.zeros((4, 0)), [0, 1, 0, 1], r"Found array with 0 feature"),
        (np.zeros((4, 2)), [0.5, 1.5, 0.1, 0.2], "Unknown label type: continuous"),
        (np.zeros((4, 2)), [[0, 1], [1, 0], [1, 1], [0, 1]], r"y should be a 1d array|multilabel"),
        (np.zeros((4, 2)), None, "requires y to be passed"),
        (np.full((4, 2), 1j), [0, 1, 0, 1], "Complex data not supported"),
        ([["a", "b"], ["c", "d"]], [0, 1], "could not convert string to float"),
        (np.zeros((4, 2)), [0, 1, np.nan, 1], "contains NaN"),
    ],
)
def test_data_of_the_wrong_kind(X, y, message):
    with pytest.raises(ValueError, match=message):
        GLVQ().fit(X, y)


@pytest.mark.parametrize("value", [{"missing": "ignore"}, {"device": "cpu"}], ids=str)
def test_sparse_data_beside_other_options(value):
    """Sparse data are supported, but not with every option."""
    X = sparse.csr_array(np.eye(4))
    (name,) = value
    if name == "device":
        pytest.importorskip("torch")
    with pytest.raises(ValueError, match=f"The '{name}' parameter of GLVQ must be .* for sparse X, got "):
        GLVQ(**value).fit(X, [0, 1, 0, 1])


def test_other_classes_in_a_warm_start(default, data):
    X, y = data
    default.set_params(warm_start=True, max_iter=2).fit(X, y)
    with pytest.raises(
        ValueError, match=r"warm_start=True of \w+ needs the classes of the first fit, \[0, 1, 2\]; got \[0, 1"
    ):
        default.fit(X[y < 2], y[y < 2])
    with pytest.raises(ValueError, match="X has 3 features"):
        default.fit(X[:, :3], y)


def test_a_refused_warm_start_leaves_the_model_as_it_was(data):
    X, y = data
    model = GLVQ(solver="online", warm_start=True, max_iter=2, random_state=0).fit(X, y)
    predicted = model.predict(X)
    with pytest.raises(ValueError, match="warm_start=True of GLVQ needs the classes of the first fit"):
        model.fit(X[y < 2], y[y < 2])
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])
    np.testing.assert_array_equal(model.predict(X), predicted)


# -- parameters --------------------------------------------------------------------------------------------------------

SHARED = [
    *[("init", "middle"), ("kernel", "gauss"), ("kernel", 3), ("kernel_width", "wide"), ("kernel_width", 0.0)],
    *[("kernel_width", -1.0), ("learning_rate", -0.1), ("learning_rate", "fast"), ("learning_rate", np.nan)],
    *[("relevance_rate", -0.1), ("schedule", "cosine"), ("max_iter", 0), ("max_iter", 1.5), ("tol", -1.0)],
    *[("n_iter_no_change", 0), ("shuffle", "yes"), ("class_weight", "even"), ("random_state", "seed")],
    *[("warm_start", "yes"), ("verbose", "loud"), ("n_prototypes", 0), ("n_prototypes_total", -1)],
]


@pytest.mark.parametrize(("name", "value"), SHARED, ids=str)
def test_shared_parameters(default, name, value, data):
    if name not in default.get_params():
        pytest.skip("not a parameter of this model")
    message = rf"The '{name}' parameter of {type(default).__name__} must be .*\. Got .* instead"
    with pytest.raises(InvalidParameterError, match=message):
        default.set_params(**{name: value}).fit(*data)
    with pytest.raises(InvalidParameterError, match=message):
        default.partial_fit(*data, classes=[0, 1, 2])


@pytest.mark.parametrize(
    ("model", "name"),
    [
        *[(LVQ1(relevance="fisher"), "relevance"), (LVQ1(relevance=3), "relevance")],
        *[(OLVQ1(learning_rate=1.0), "learning_rate"), (OLVQ1(learning_rate=0.0), "learning_rate")],
        *[(LVQ21(window=0.0), "window"), (LVQ21(window=1.0), "window"), (LVQ3(window="wide"), "window")],
        *[(LVQ3(epsilon=0.0), "epsilon"), (LVQ3(epsilon=1.5), "epsilon"), (RLVQ(squared="yes"), "squared")],
        *[(GLVQ(relevance="fisher"), "relevance"), (GLVQ(slope=0.0), "slope"), (GLVQ(slope="steep"), "slope")],
        *[(GLVQ(alpha=-1.0), "alpha"), (GLVQ(solver="sgd"), "solver"), (GLVQ(step="long"), "step")],
        *[(GRLVQ(slope=-1.0), "slope"), (GMLVQ(rank=0), "rank"), (GMLVQ(rank=1.5), "rank")],
        *[(LGMLVQ(rank="full"), "rank"), (LGMLVQ(local="all"), "local"), (LGMLVQ(local=None), "local")],
        *[(MCE(xi=0.0), "xi"), (MCE(xi="steep"), "xi"), (LOGM(xi=-1.0), "xi"), (LOGM(alpha="none"), "alpha")],
        *[(LOGM(relevance="fisher"), "relevance"), (LOGM(rank=0), "rank"), (SNPC(decision="soft"), "decision")],
        *[(RSLVQ(decision=None), "decision"), (RSLVQ(xi=np.inf), "xi")],
    ],
    ids=str,
)
def test_own_parameters(model, name, data):
    message = rf"The '{name}' parameter of {type(model).__name__} must be .*\. Got .* instead"
    with pytest.raises(InvalidParameterError, match=message):
        model.fit(*data)


@pytest.mark.parametrize(
    "relevance", ["gradient", "matrix", "local_matrix", "local_diagonal", GradientRelevance(), MatrixRelevance()]
)
@pytest.mark.parametrize("cls", [LVQ1, OLVQ1, LVQ21, LVQ3])
def test_rules_have_no_gradient(cls, relevance, data):
    name = cls.__name__
    message = rf"The 'relevance' parameter of {name} must be None, 'hebbian', 'fc1' or 'fc2', as {name} has no gradient"
    with pytest.raises(ValueError, match=message):
        cls(relevance=relevance).fit(*data)
    with pytest.raises(ValueError, match=message):
        cls(relevance=relevance).partial_fit(*data, classes=[0, 1, 2])


@pytest.mark.parametrize("model", [GLVQ(relevance="local_scale"), LVQClassifier(relevance="local_scale")], ids=str)
def test_a_scale_is_learned_by_batch_solvers(model, data):
    message = f"relevance='local_scale' of {type(model).__name__} needs solver='lbfgs' or 'adam', got solver='online'"
    with pytest.raises(ValueError, match=message):
        model.set_params(solver="online").fit(*data)


@pytest.mark.parametrize("cls", [MCE, LOGM, SNPC, RSLVQ])
def test_only_relative_costs_have_a_relative_step(cls, data):
    with pytest.raises(ValueError, match=rf"The 'step' parameter of {cls.__name__} must be 'scaled' or 'gradient'"):
        cls(step="relative", solver="online").fit(*data)


def test_a_learned_width_needs_a_kernel(default, data):
    with pytest.raises(ValueError, match=rf"kernel_width='learned' of {type(default).__name__} needs a kernel"):
        default.set_params(kernel_width="learned").fit(*data)


@pytest.mark.parametrize("cls", [LVQ1, OLVQ1, LVQ21, LVQ3, RLVQ])
def test_a_learned_width_needs_a_gradient(cls, data):
    with pytest.raises(ValueError, match=rf"kernel_width='learned' needs a cost.*; {cls.__name__} has none"):
        cls(kernel="gaussian", kernel_width="learned").fit(*data)


@pytest.mark.parametrize("width", [1e-200, 1e200])
@pytest.mark.parametrize("cls", [LVQ1, GLVQ, RSLVQ])
def test_a_width_whose_square_overflows_or_vanishes(cls, width, data):
    model = cls(kernel="gaussian", kernel_width=width)
    with pytest.raises(ValueError, match=f"kernel_width of {cls.__name__} must be between"):
        model.fit(*data)


@pytest.mark.parametrize(
    "model",
    [GMLVQ(rank=5), LGMLVQ(rank=5), LOGM(relevance="matrix", rank=5), SNPC(relevance="local_matrix", rank=5)],
    ids=repr,
)
def test_rank_too_large(model, data):
    with pytest.raises(ValueError, match=r"'rank' parameter of \w+ must be at most the number of features, 4; got 5"):
        model.fit(*data)


@pytest.mark.parametrize("relevance", [None, "gradient", "fc1", "fc2", "hebbian"])
@pytest.mark.parametrize("cls", [MCE, LOGM, SNPC, RSLVQ])
def test_rank_needs_a_matrix(cls, relevance, data):
    with pytest.raises(
        ValueError, match=f"rank=2 of {cls.__name__} needs relevance='matrix' or 'local_matrix', got relevance="
    ):
        cls(relevance=relevance, rank=2, solver="online").fit(*data)


@pytest.mark.parametrize("solver", ["lbfgs", "adam"])
@pytest.mark.parametrize("relevance", ["hebbian", "fc1", "fc2"])
@pytest.mark.parametrize("cls", [GLVQ, MCE, LOGM, SNPC, RSLVQ])
def test_rules_go_with_the_online_solver(cls, relevance, solver, data):
    message = rf"solver='{solver}' of {cls.__name__} needs a relevance with a gradient.*Use solver='online'"
    with pytest.raises(ValueError, match=message):
        cls(relevance=relevance, solver=solver).fit(*data)


@pytest.mark.parametrize("solver", ["lbfgs", "adam"])
def test_a_slope_that_grows_with_time_goes_with_the_online_solver(solver, data):
    """A batch solver has one objective; it must not silently minimise another one."""
    with pytest.raises(ValueError, match="slope"):
        GLVQ(slope="time", solver=solver).fit(*data)


def test_parts_are_checked_before_the_data():
    """Nothing is computed for impossible parts: the data here would be refused too."""
    with pytest.raises(ValueError, match="has no gradient"):
        LVQ1(relevance="gradient").fit(np.full((2, 2), np.nan), [0, 1])


@pytest.mark.parametrize(
    ("cls", "name"),
    [
        *((cls, "solver") for cls in (LVQ1, OLVQ1, LVQ21, LVQ3, RLVQ)),
        (OLVQ1, "schedule"),
        *((cls, "cost_matrix") for cls in (SNPC, RSLVQ)),
        (LVQClassifier, "slope"),
    ],
)
def test_parameters_without_an_effect_do_not_exist(cls, name):
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
        cls(**{name: "auto"})
