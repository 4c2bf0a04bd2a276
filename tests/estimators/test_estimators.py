"""The estimators as scikit-learn citizens: labels, types, seeds, stopping, and life inside its tools."""

import io
import pickle
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LOGM, LVQ1, MCE, RLVQ, RSLVQ, SNPC
from lvq.model.relevance import FisherNeighbours

LEARNED = ("prototypes_", "relevances_", "omega_", "lambda_", "kernel_width_", "objective_history_")


def learned(model):
    """Everything a fit has found out, by name."""
    return {name: getattr(model, name) for name in LEARNED if hasattr(model, name)}


def assert_same(one, other):
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


# -- labels ------------------------------------------------------------------------------------------------------------


def test_string_labels(default, data):
    """Words in place of numbers of the same order change the names and nothing else."""
    X, y = data
    words = np.array(["ash", "birch", "cedar"])
    plain, named = clone(default).fit(X, y), default.fit(X, words[y])
    np.testing.assert_array_equal(named.classes_, words)
    np.testing.assert_array_equal(named.prototype_labels_, words[plain.prototype_labels_])
    np.testing.assert_array_equal(named.predict(X), words[plain.predict(X)])
    np.testing.assert_array_equal(named.explain(X).label, words[plain.predict(X)])
    assert_same(learned(named), learned(plain))


@pytest.mark.parametrize(
    "labels",
    [[-5, 0, 7], [False, True], [1.0, 2.0, 4.0], np.array(["a", "b"], dtype=object), np.array([200, 201], np.uint8)],
    ids=str,
)
def test_labels_of_any_kind(labels, data):
    X, y = data
    labels = np.asarray(labels)
    X, y = X[y < len(labels)], labels[y[y < len(labels)]]
    model = GLVQ(random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.classes_, labels)
    assert model.predict(X).dtype == labels.dtype
    assert model.score(X, y) > 0.8


# -- the shape of what is learned --------------------------------------------------------------------------------------


def test_learned_attributes(model, data):
    X, y = data
    model.fit(X, y)
    count = 3 * model.n_prototypes
    assert model.prototypes_.shape == (count, 4)
    np.testing.assert_array_equal(model.prototype_labels_, np.repeat([0, 1, 2], model.n_prototypes))
    assert model.n_features_in_ == 4
    assert not hasattr(model, "feature_names_in_")
    assert model.n_iter_ == model.max_iter == len(model.objective_history_)
    if hasattr(model, "relevances_"):
        assert model.relevances_.shape == (4,)
        assert (model.relevances_ >= 0).all()
        assert model.relevances_.sum() == pytest.approx(1)
    if hasattr(model, "omega_"):
        np.testing.assert_allclose(np.square(model.omega_).sum(axis=(-2, -1)), 1)
        np.testing.assert_allclose(model.lambda_, np.swapaxes(model.omega_, -1, -2) @ model.omega_)
    assert hasattr(model, "kernel_width_") == (model.kernel is not None)


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        (GMLVQ(), (4, 4)),
        (GMLVQ(rank=2), (2, 4)),
        (LGMLVQ(n_prototypes=2), (3, 4, 4)),
        (LGMLVQ(n_prototypes=2, local="prototype"), (6, 4, 4)),
        (LGMLVQ(n_prototypes=2, local="prototype", rank=1), (6, 1, 4)),
        (LOGM(relevance="matrix", rank=3), (3, 4)),
        (RSLVQ(relevance="local_matrix", rank=2), (3, 2, 4)),
    ],
    ids=repr,
)
def test_shape_of_the_matrices(model, shape, data):
    model.set_params(max_iter=2).fit(*data)
    assert model.omega_.shape == shape
    assert model.lambda_.shape == (*shape[:-2], 4, 4)


@pytest.mark.parametrize(
    ("before", "after", "gone"),
    [
        ({"relevance": "gradient"}, {"relevance": None}, ["relevances_"]),
        ({"relevance": "matrix"}, {"relevance": None}, ["omega_", "lambda_"]),
        ({"relevance": "matrix"}, {"relevance": "fc2"}, ["omega_", "lambda_"]),
        ({"relevance": "fc2"}, {"relevance": "matrix"}, ["relevances_"]),
        ({"kernel": "gaussian"}, {"kernel": None}, ["kernel_width_"]),
    ],
)
def test_a_second_fit_forgets_the_first(before, after, gone, data):
    """An attribute of parts that the model no longer has would be read as if it were in use."""
    X, y = data
    model = GLVQ(max_iter=2, random_state=0, **before).fit(X, y).set_params(**after).fit(X, y)
    fresh = GLVQ(max_iter=2, random_state=0, **after).fit(X, y)
    for name in gone:
        assert not hasattr(model, name)
    assert_same(learned(model), learned(fresh))


def test_a_second_fit_starts_anew(model, data):
    X, y = data
    first = learned(clone(model).fit(X, y))
    assert_same(learned(model.fit(X[::-1] + 1, y[::-1]).fit(X, y)), first)


def test_fit_leaves_the_data_alone(model, data):
    X, y = data[0].copy(), data[1].copy()
    model.fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(X, data[0])
    np.testing.assert_array_equal(y, data[1])


def test_read_only_and_fortran_order(model, data):
    X, y = data
    odd = np.asfortranarray(X)
    odd.setflags(write=False)
    assert_same(learned(clone(model).fit(odd, y)), learned(model.fit(X, y)))


# -- float32 -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_float_type_is_kept(model, data, dtype):
    X, y = data[0].astype(dtype), data[1]
    model.fit(X, y)
    for name in ("prototypes_", "relevances_", "omega_", "lambda_"):
        if hasattr(model, name):
            assert getattr(model, name).dtype == dtype, name
    for name in ("decision_function", "predict_proba", "transform"):
        if hasattr(model, name):
            assert getattr(model, name)(X).dtype == dtype, name
    explanation = model.explain(X)
    assert explanation.certainty.dtype == dtype
    assert explanation.contributions.dtype == dtype


def test_float_type_is_kept_by_a_stream(model, data):
    X, y = data[0].astype(np.float32), data[1]
    model.partial_fit(X[y < 2], y[y < 2], classes=[0, 1, 2]).partial_fit(X, y)
    for name in ("prototypes_", "relevances_", "omega_"):
        if hasattr(model, name):
            assert getattr(model, name).dtype == np.float32, name


def test_float32_learns_the_same_model(default, data):
    """Not digit by digit after many steps, but to the same answers."""
    X, y = data
    wide = clone(default).fit(X, y)
    narrow = default.fit(X.astype(np.float32), y)
    assert (wide.predict(X) == narrow.predict(X.astype(np.float32))).mean() > 0.95


def test_whole_numbers_become_float64(data):
    X, y = data
    model = GLVQ(max_iter=2).fit(np.round(10 * X).astype(np.int32), y)
    assert model.prototypes_.dtype == np.float64


# -- scale-free defaults -----------------------------------------------------------------------------------------------


def scale_free(model):
    """Whether the model's defaults promise the same answer in any unit: not the plain gradient, nor RLVQ's rule."""
    relevance = getattr(model, "relevance", None)
    return getattr(model, "step", "scaled") != "gradient" and not isinstance(model, RLVQ) and relevance != "hebbian"


@pytest.mark.parametrize("unit", [2.0**-12, 2.0**12])
def test_the_unit_of_the_data_does_not_matter(model, data, unit):
    if not scale_free(model):
        pytest.skip("a plain step has the unit of the data in it")
    X, y = data
    plain, scaled = clone(model).fit(X, y), model.fit(unit * X, y)
    np.testing.assert_allclose(scaled.prototypes_ / unit, plain.prototypes_, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(scaled.predict(unit * X), plain.predict(X))
    np.testing.assert_allclose(scaled.predict_proba(unit * X), plain.predict_proba(X), atol=1e-6)


def test_the_origin_of_the_data_does_not_matter(model, data):
    """Peers that compute in float32, or without a common centre, fall from 0.95 to 0.39 on iris + 10,000."""
    X, y = data
    X = np.round(X * 2**10) / 2**10  # so that adding a whole number is exact
    plain, moved = clone(model).fit(X, y), model.fit(X + 2.0**14, y)
    np.testing.assert_allclose(moved.prototypes_ - 2.0**14, plain.prototypes_, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(moved.predict(X + 2.0**14), plain.predict(X))


@pytest.mark.parametrize("kernel", ["gaussian", "cauchy", "inverse_multiquadric", "rational_quadratic"])
def test_training_uses_the_width_of_the_kernel(kernel, data):
    """A width of 3 on the data and one of 1 on a third of the data are the same kernel."""
    X, y = data
    settings = {"kernel": kernel, "random_state": 0, "max_iter": 20}
    wide = GLVQ(kernel_width=4.0, **settings).fit(X, y)
    narrow = GLVQ(kernel_width=1.0, **settings).fit(X / 4, y)
    np.testing.assert_allclose(narrow.prototypes_, wide.prototypes_ / 4, rtol=1e-8)
    other = GLVQ(kernel_width=0.5, **settings).fit(X, y)
    assert np.abs(other.prototypes_ - wide.prototypes_).max() > 0.01


def test_the_history_is_the_cost_at_the_width_in_use(data):
    """With a rate of zero the mean cost of an epoch is that of the starting prototypes under the kernel."""
    X, y = data
    model = GLVQ(kernel="gaussian", kernel_width=3.0, learning_rate=0.0, max_iter=1).fit(X, y)
    linked = 2 - 2 * np.exp(-np.square(X[:, None] - model.prototypes_).sum(axis=2) / (2 * 3.0**2))
    near = linked[np.arange(len(y)), y]
    far = np.where(np.arange(3) == y[:, None], np.inf, linked).min(axis=1)
    assert model.objective_history_[0] == pytest.approx(((near - far) / (near + far)).mean(), rel=1e-9)


def test_learned_width_moves(data):
    X, y = data
    fixed = GLVQ(kernel="gaussian", random_state=0).fit(X, y)
    moved = GLVQ(kernel="gaussian", kernel_width="learned", random_state=0).fit(X, y)
    assert moved.kernel_width_ != pytest.approx(fixed.kernel_width_, rel=1e-3)


# -- seeds -------------------------------------------------------------------------------------------------------------


def test_same_seed_same_bits(model, data):
    X, y = data
    one, two = clone(model).fit(X, y), model.fit(X, y)
    assert_same(learned(one), learned(two))
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_another_seed_another_order(default, data):
    X, y = data
    default.set_params(init="random", n_prototypes=2, max_iter=3)
    one, two = clone(default).fit(X, y), default.set_params(random_state=1).fit(X, y)
    assert (one.prototypes_ != two.prototypes_).any()


def test_a_random_state_object_moves_on(data):
    X, y = data
    model = GLVQ(random_state=np.random.RandomState(0), max_iter=3)
    first = model.fit(X, y).prototypes_
    assert (model.fit(X, y).prototypes_ != first).any()


def test_without_shuffling_no_seed_matters(default, data):
    X, y = data
    default.set_params(shuffle=False, max_iter=3, init="means")
    one, two = clone(default).fit(X, y), default.set_params(random_state=1).fit(X, y)
    assert_same(learned(one), learned(two))


def test_without_shuffling_the_order_matters(data):
    X, y = data
    model = LVQ1(shuffle=False, max_iter=1, init="means", schedule="constant")
    one = clone(model).fit(X, y).prototypes_
    assert (model.fit(X[::-1], y[::-1]).prototypes_ != one).any()


# -- warm start and stopping -------------------------------------------------------------------------------------------


def test_warm_start_goes_on(model, data):
    """Two warm fits of a constant rate without shuffling are one fit of twice the length.

    The statistics of OLVQ1 and of the Fisher rules, and a slope that grows with time, start anew with each fit.
    """
    X, y = data
    memory = type(model).__name__ == "OLVQ1" or str(getattr(model, "relevance", "")).startswith("fc")
    if memory or getattr(model, "slope", None) == "time":
        pytest.skip("counts its steps within one fit")
    model.set_params(schedule="constant", shuffle=False, max_iter=4)
    long = clone(model).set_params(max_iter=8).fit(X, y)
    model.set_params(warm_start=True).fit(X, y)
    middle = model.prototypes_.copy()
    model.fit(X, y)
    np.testing.assert_allclose(model.prototypes_, long.prototypes_, rtol=1e-7, atol=1e-9)
    assert (model.prototypes_ != middle).any()
    assert model.n_iter_ == 4


def test_warm_start_lowers_the_cost(data):
    X, y = data
    model = GLVQ(max_iter=3, warm_start=True, random_state=0).fit(X, y)
    first = model.objective_history_[0]
    assert model.fit(X, y).objective_history_[0] < first


def test_cold_start_forgets(data):
    X, y = data
    model = GLVQ(max_iter=3, random_state=0)
    np.testing.assert_array_equal(model.fit(X, y).prototypes_, model.fit(X, y).prototypes_)


def test_warm_start_takes_new_weights_of_parts(data):
    """Rates and steepness may change between two warm fits; the prototypes stay where they are."""
    X, y = data
    model = LOGM(warm_start=True, random_state=0).fit(X, y)
    before = model.prototypes_.copy()
    model.set_params(learning_rate=0.0, xi=7.0).fit(X, y)
    np.testing.assert_allclose(model.prototypes_, before, rtol=1e-12)


@pytest.mark.parametrize("change", [{"relevance": "gradient"}, {"relevance": "matrix"}, {"kernel": "gaussian"}], ids=str)
def test_warm_start_with_other_parts(change, data):
    """Parts that were not there in the first fit either join or are refused in a sentence; never silently left out."""
    X, y = data
    model = GLVQ(warm_start=True, max_iter=2, random_state=0).fit(X, y).set_params(**change)
    try:
        model.fit(X, y)
    except ValueError as error:
        assert "warm_start" in str(error)
    else:
        names = {"gradient": "relevances_", "matrix": "omega_", "gaussian": "kernel_width_"}
        assert hasattr(model, names[next(iter(change.values()))])


def test_tolerance_stops_early(default, data):
    """A cost never falls by a million: the first epoch improves on nothing, then patience counts."""
    X, y = data
    default.set_params(tol=1e6, n_iter_no_change=3, max_iter=50).fit(X, y)
    assert default.n_iter_ == 4
    assert len(default.objective_history_) == 4


def test_without_tolerance_all_epochs_run(default, data):
    assert default.set_params(tol=None, max_iter=17).fit(*data).n_iter_ == 17


def test_tolerance_zero_runs_while_the_cost_falls(data):
    X, y = data
    model = GLVQ(tol=0.0, n_iter_no_change=2, max_iter=500, random_state=0).fit(X, y)
    history = model.objective_history_
    assert 2 < model.n_iter_ < 500
    best = history[:-2].min()
    assert (history[-2:] >= best).all()


def test_watching_the_tolerance_does_not_change_the_steps(model, data):
    """One epoch a call, or many: the same steps."""
    X, y = data
    plain = clone(model).fit(X, y)
    watched = model.set_params(tol=0.0, n_iter_no_change=10_000).fit(X, y)
    np.testing.assert_allclose(watched.prototypes_, plain.prototypes_, rtol=1e-9, atol=1e-12)


# -- verbose -----------------------------------------------------------------------------------------------------------


def test_silent_by_default(default, data, capsys):
    default.set_params(max_iter=2).fit(*data)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_verbose_prints_a_line(default, data, capsys):
    default.set_params(max_iter=3, verbose=True).fit(*data)
    lines = capsys.readouterr().out.splitlines()
    assert lines
    assert type(default).__name__ in lines[-1]
    assert "3/3" in lines[-1]
    assert f"objective {default.objective_history_[-1]:.5g}" in lines[-1]


def test_verbose_prints_a_line_when_stopped_early(data, capsys):
    """Whoever asks for a progress line sees where the run ended, and on a terminal the cursor is on a new line."""
    model = GLVQ(verbose=True, tol=1e6, n_iter_no_change=2, max_iter=100).fit(*data)
    assert f"{model.n_iter_}/100" in capsys.readouterr().out


def test_verbose_on_a_terminal_ends_its_line(data, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for settings in ({"max_iter": 3}, {"tol": 1e6, "n_iter_no_change": 2, "max_iter": 100}):
        terminal = Terminal()
        monkeypatch.setattr(sys, "stdout", terminal)
        GLVQ(verbose=True, **settings).fit(*data)
        monkeypatch.undo()
        assert terminal.getvalue().startswith("\rGLVQ [")
        assert terminal.getvalue().endswith("\n")


# -- life inside scikit-learn ------------------------------------------------------------------------------------------


def test_pickle(model, data):
    X, y = data
    model.fit(X, y)
    back = pickle.loads(pickle.dumps(model))
    assert_same(learned(back), learned(model))
    np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))
    assert_same(learned(back.partial_fit(X, y)), learned(model.partial_fit(X, y)))


def test_clone(model, data):
    copy = clone(model.fit(*data))
    assert not hasattr(copy, "prototypes_")
    assert copy.get_params() == model.get_params()


def test_clone_of_parts_and_arrays(data):
    X, y = data
    model = GLVQ(init=(X[:3], [0, 1, 2]), relevance=FisherNeighbours(rivals="nearest"), n_prototypes={0: 1, 1: 1, 2: 1})
    copy = clone(model)
    assert copy.relevance == model.relevance
    np.testing.assert_array_equal(copy.init[0], model.init[0])
    assert copy.fit(X, y).score(X, y) > 0.5


def test_repr_names_what_differs():
    assert repr(GMLVQ(rank=2, kernel="gaussian")) == "GMLVQ(kernel='gaussian', rank=2)"


def test_pipeline_and_grid_search(data):
    X, y = data
    search = GridSearchCV(
        make_pipeline(StandardScaler(), GLVQ(max_iter=3, random_state=0)),
        {"glvq__kernel": [None, "gaussian", "cauchy"], "glvq__relevance": [None, "gradient", "matrix", "fc1", "fc2"]},
        cv=3,
        error_score="raise",
    ).fit(X, y)
    assert len(search.cv_results_["params"]) == 15
    assert search.best_score_ > 0.7
    assert search.predict_proba(X).shape == (90, 3)


def test_as_the_first_step_of_a_pipeline(data):
    """GMLVQ as a supervised projection in front of another classifier."""
    X, y = data
    steps = make_pipeline(StandardScaler(), GMLVQ(rank=2, max_iter=10, random_state=0), LVQ1(random_state=0))
    assert cross_val_score(steps, X, y, cv=3, error_score="raise").mean() > 0.7


def test_calibration(default, data):
    X, y = data
    calibrated = CalibratedClassifierCV(default.set_params(max_iter=3), cv=3).fit(X, y)
    assert calibrated.score(X, y) > 0.7


@pytest.mark.parametrize("number", [np.int64(10), np.int32(10), np.float32(10), np.float64(10), 10])
def test_a_slope_of_any_kind_of_number(number, data):
    """A grid made by NumPy holds NumPy's numbers."""
    X, y = data
    expected = GLVQ(slope=10.0, max_iter=3, random_state=0).fit(X, y)
    found = GLVQ(slope=number, max_iter=3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(found.prototypes_, expected.prototypes_)
    np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(X))


def test_threads(data):
    """Fits in threads, as joblib runs them, are those of one thread."""
    X, y = data
    scores = [cross_val_score(GMLVQ(max_iter=3, random_state=0), X, y, cv=4, n_jobs=jobs) for jobs in (1, 2)]
    np.testing.assert_array_equal(*scores)


# -- learning at all ---------------------------------------------------------------------------------------------------


def test_learns_iris(default):
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), default)
    assert cross_val_score(model, X, y, cv=5, error_score="raise").mean() > 0.85


def test_relevances_find_the_informative_features():
    """Two features of the class and twenty of noise; `predict` must use what has been learned (a peer's does not)."""
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = rng.normal(size=(400, 22))
    X[:, :2] += 3 * y[:, None]
    test = rng.normal(size=(400, 22))
    test[:, :2] += 3 * y[:, None]
    for model in (GRLVQ(random_state=0, relevance_rate=0.1), GMLVQ(random_state=0, relevance_rate=0.1)):
        model.fit(X, y)
        weight = model.relevances_ if hasattr(model, "relevances_") else np.diag(model.lambda_)
        assert weight[:2].sum() > 0.6
        metric = np.diag(weight) if hasattr(model, "relevances_") else model.lambda_
        differences = test[:, None] - model.prototypes_
        nearest = np.einsum("ijk,kl,ijl->ij", differences, metric, differences).argmin(axis=1)
        np.testing.assert_array_equal(model.predict(test), model.prototype_labels_[nearest])
        assert model.score(test, y) > 0.95


@pytest.mark.parametrize("model", [MCE(alpha=0.05), LOGM(alpha=0.05), SNPC(alpha=0.05), RSLVQ(alpha=0.05)], ids=repr)
def test_the_regulariser_draws_prototypes_to_the_data(model, data):
    X, y = data
    plain = clone(model).set_params(alpha=0.0, random_state=0, max_iter=30).fit(X, y)
    drawn = model.set_params(alpha=5.0, random_state=0, max_iter=30).fit(X, y)
    means = np.stack([X[y == label].mean(axis=0) for label in range(3)])
    assert np.square(drawn.prototypes_ - means).sum() < np.square(plain.prototypes_ - means).sum()
