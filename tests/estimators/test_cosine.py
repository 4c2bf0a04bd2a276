"""metric="cosine": a model of directions."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, normalize

import lvq
from lvq import GLVQ, GMLVQ, LOGM, RSLVQ, RejectClassifier
from lvq.model.costs import LOGMCost, RSLVQCost
from lvq.model.links import Identity
from lvq.model.metrics import Euclidean
from lvq.model.objective import Objective, Params, Problem
from lvq.model.prototype_model import PrototypeModel
from lvq.model.relevance import Relevance
from lvq.model.samples import ArraySamples
from tests.model.formulas import differences

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # few iterations suffice


@pytest.fixture(scope="module")
def digits() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    return X[:300], y[:300]


def lengths(model: PrototypeModel) -> np.ndarray:
    return np.linalg.norm(model.prototypes, axis=1)


@pytest.mark.parametrize(("kind", "solver"), [(GLVQ, "lbfgs"), (GMLVQ, "adam"), (RSLVQ, "lbfgs")])
def test_the_length_of_samples_does_not_matter(kind, solver, digits):
    X, y = digits
    model = kind(metric="cosine", n_prototypes=2, solver=solver, max_iter=15, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.85
    assert np.allclose(lengths(model.model_), 1, rtol=0, atol=1e-12)
    factor = 2.0 ** np.random.RandomState(0).randint(-5, 6, len(X))[:, None]
    assert np.array_equal(model.predict_proba(factor * X), model.predict_proba(X))
    again = kind(metric="cosine", n_prototypes=2, solver=solver, max_iter=15, random_state=0).fit(factor * X, y)
    assert np.array_equal(again.prototypes_, model.prototypes_)


@pytest.mark.parametrize(("cost", "shifted"), [(LOGMCost(xi=3.0, alpha=0.1), True), (RSLVQCost(xi=3.0), False)])
def test_the_gradient_is_that_of_the_objective(cost, shifted):
    random = np.random.RandomState(1)
    X, y = normalize(random.normal(size=(40, 5))), np.repeat([0, 1], 20)
    centre = random.normal(size=5) if shifted else np.zeros(5)
    problem = Problem(Objective(Euclidean(), Identity(), cost, np.array([0, 0, 1])), Relevance(), 0.3, centre=centre)
    samples = ArraySamples(X - centre, y, np.full(40, 1 / 40))
    free = Params(random.normal(size=(3, 5)))
    _, gradient = problem.value_and_gradient(free, samples)

    expected = differences(lambda W: float(problem.value_and_gradient(Params(W), samples)[0]), free.prototypes)
    np.testing.assert_allclose(gradient.prototypes, expected, rtol=1e-5, atol=1e-8)


def test_the_nearest_prototype_has_the_largest_cosine(digits):
    X, y = digits
    model = LOGM(metric="cosine", max_iter=10, random_state=0).fit(X, y)
    cosine = normalize(X) @ model.prototypes_.T
    assert np.array_equal(model.predict(X), model.prototype_labels_[cosine.argmax(axis=1)])
    distances = model.model_.distances(model.model_.checked(X))
    assert np.allclose(distances, 2 - 2 * cosine, rtol=0, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_winner_of_an_explanation_is_that_of_the_prediction(dtype):
    """Also halfway between two prototypes: rows that are divided by their length twice differ in the last digit."""
    random = np.random.RandomState(0)
    W = normalize(random.normal(size=(2, 50))).astype(dtype)
    X = random.uniform(1, 10, size=(2000, 1)).astype(dtype) * W.sum(axis=0)
    model = GLVQ(metric="cosine", init=(W, [0, 1]), max_iter=0).fit(np.tile(W, (2, 1)), [0, 1, 0, 1])
    np.testing.assert_array_equal(model.explain(X).label, model.predict(X))


def test_sparse_rows_are_as_dense_ones(digits):
    X, y = digits
    parameters = {"metric": "cosine", "n_prototypes": 2, "max_iter": 10, "random_state": 0}
    one, other = LOGM(**parameters).fit(X, y), LOGM(**parameters).fit(sparse.csr_array(X), y)
    assert np.allclose(one.prototypes_, other.prototypes_, rtol=0, atol=1e-9)
    assert np.allclose(one.predict_proba(sparse.csr_array(X)), one.predict_proba(X), rtol=0, atol=1e-12)


def test_a_class_whose_samples_cancel_starts_at_a_sample():
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, 2.0]])
    model = LOGM(metric="cosine", max_iter=1).fit(X, [0, 0, 1, 1])
    assert np.allclose(lengths(model.model_), 1)


def test_a_row_of_zeros_is_refused_by_its_number(digits):
    X, y = digits
    model, wrong = LOGM(metric="cosine", max_iter=2, random_state=0).fit(X, y), X.copy()
    wrong[[7, 9]] = 0
    for call in (
        lambda: LOGM(metric="cosine").fit(wrong, y),
        lambda: LOGM(metric="cosine").fit(sparse.csr_array(wrong), y),
        lambda: LOGM(metric="cosine", init=np.zeros((10, 64))).fit(X, y),
        lambda: model.predict(wrong),
        lambda: model.objective_value(wrong, y),
        lambda: model.model_.predict(wrong),
    ):
        with pytest.raises(ValueError, match=r"row [70], counted from 0"):
            call()


@pytest.mark.parametrize("parameters", [{"solver": "online"}, {"missing": "ignore"}])
def test_what_cannot_keep_the_length_is_refused(parameters, digits):
    with pytest.raises(ValueError, match="metric='cosine' of LOGM keeps prototypes at length one"):
        LOGM(metric="cosine", **parameters).fit(*digits)


def test_streams_and_changes_of_the_metric_are_refused(digits):
    X, y = digits
    with pytest.raises(ValueError, match="partial_fit"):
        LOGM(metric="cosine").partial_fit(X, y, classes=np.unique(y))
    model = LOGM(warm_start=True, max_iter=2, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="'metric' has changed"):
        model.set_params(metric="cosine").fit(X, y)


def test_files_and_arrays_keep_the_metric(tmp_path, digits):
    X, y = digits
    model = LOGM(metric="cosine", max_iter=5, random_state=0).fit(X, y)
    model.model_.save(tmp_path / "model.npz")
    lvq.save(model, tmp_path / "model.lvq")
    for loaded in (PrototypeModel.load(tmp_path / "model.npz"), lvq.load(tmp_path / "model.lvq")):
        assert np.array_equal(loaded.predict_proba(3 * X), model.predict_proba(3 * X))
    arrays = model.model_.to_arrays()
    with pytest.raises(ValueError, match="length one"):
        PrototypeModel.from_arrays(arrays | {"prototypes": 2 * arrays["prototypes"]})


def test_onnx_divides_by_the_length(digits):
    pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    X, y = digits
    model = RejectClassifier(make_pipeline(StandardScaler(), LOGM(metric="cosine", max_iter=5))).fit(X, y)
    session = runtime.InferenceSession(lvq.onnx.to_onnx(model).SerializeToString())
    label, probabilities, _, accepted = session.run(None, {"X": X})
    assert np.array_equal(label, model.predict(X))
    assert np.allclose(probabilities, model.predict_proba(X), rtol=0, atol=1e-12)
    assert np.array_equal(accepted, model.accept(X))
    bare = LOGM(metric="cosine", max_iter=2).fit(X, y)
    session = runtime.InferenceSession(lvq.onnx.to_onnx(bare).SerializeToString())
    assert session.run(["accepted"], {"X": np.stack((X[0], np.zeros(64)))})[0].tolist() == [True, False]
