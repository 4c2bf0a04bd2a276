"""torch tensors: tensors in, tensors out, equal to NumPy, the samples never on the host, and the messages of arrays."""

import sys

import numpy as np
import pytest
from sklearn.base import clone

from lvq import GLVQ, GMLVQ, GRLVQ, LOGM, LVQ1, RSLVQ, LVQClassifier
from lvq.model import rows, starts
from lvq.model.links import Gaussian
from lvq.model.relevance import Matrix, Weights
from lvq.model.rows import as_numpy
from lvq.solvers.adam import Adam
from lvq.solvers.lbfgs import LBFGS
from tests.estimators.configurations import assert_same

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
GROUPED = {"feature_groups": ("a", "b", "b", None), "smoothness": 0.3}
MODELS = [
    GRLVQ(relevance=Weights(**GROUPED), kernel="cauchy", n_prototypes=2),
    GMLVQ(relevance=Matrix(rank=2, log_determinant=0.2)),
    LOGM(kernel=Gaussian(width="learned")),
    RSLVQ(n_prototypes=2, decision="posterior"),
    LVQClassifier(cost="mce", relevance="matrix", cost_matrix=[[0, 2, 1], [1, 0, 1], [1, 3, 0]]),
    LVQClassifier(relevance=Matrix(local="class", ridge=0.1, shrinkage=0.2, smoothness=0.2), calibration=None),
]
WITHOUT_CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
places = pytest.mark.parametrize("place", ["cpu", pytest.param("cuda", marks=WITHOUT_CUDA)])


@pytest.mark.thin(2)
@places
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_fit_on_tensors_equals_fit_on_arrays(model, place, data):
    """Five iterations, so that rounding has no time to grow; what is learned is NumPy's again."""
    X, y = data[0], np.array([-5, 3, 900])[data[1]]
    weight = np.random.default_rng(0).uniform(0.5, 2, len(X)) * (np.arange(len(X)) % 9 > 0)
    model = clone(model).set_params(solver="lbfgs", max_iter=5, random_state=0, class_weight="balanced")
    plain = clone(model).fit(X, y, weight)
    tensors = [torch.as_tensor(part, device=place) for part in (X, y, weight)]
    on_tensors = clone(model).fit(*tensors)
    by_device = clone(model).set_params(solver=LBFGS(device=place)).fit(X, y, weight)
    texts = np.array(["a", "bb", "c"])[data[1]]
    assert clone(model).fit(tensors[0], texts).predict(X).dtype == texts.dtype
    for other in (on_tensors, by_device):
        assert isinstance(other.prototypes_, np.ndarray)
        assert_same(other, plain, 1e-7)
        np.testing.assert_array_equal(other.classes_, plain.classes_)
        assert isinstance(other.classes_, np.ndarray)


@places
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_outputs_of_tensors_agree_at_ties(dtype, place):
    """Far samples are equally near to prototypes that differ little, so that rounding makes most distances equal."""
    random = np.random.RandomState(0)
    W = np.vstack((np.finfo(dtype).eps * random.normal(size=(30, 3)), np.ones(3))).astype(dtype)
    y, X = np.arange(31), 10 * random.normal(size=(2000, 3)).astype(dtype)
    model = GMLVQ(init=(W, y), max_iter=0).fit(np.tile(W, (2, 1)), np.tile(y, 2))
    D = np.sort(model.model_.distances(X), axis=1)
    assert (D[:, 1] - D[:, 0] <= 4 * np.spacing(D[:, 0])).mean() > 0.4
    for given in (X, torch.as_tensor(X, device=place)):
        predicted = as_numpy(model.predict(given))
        for table in (model.predict_proba(given), model.decision_function(given)):
            np.testing.assert_array_equal(as_numpy(table).argmax(axis=1), predicted)


@pytest.mark.thin(4)
@places
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_adam_on_tensors_learns(model, place, data):
    """Its order of the samples is torch's own, so only the outcome can be compared."""
    X, y = data
    solver = Adam(learning_rate=0.05, batch_size=30)
    model = clone(model).set_params(solver=solver, max_iter=20, random_state=0)
    tensors = torch.as_tensor(X, device=place), torch.as_tensor(y, device=place)
    start = clone(model).set_params(solver=Adam(learning_rate=0.0), max_iter=1).fit(X, y).objective_value(X, y)
    one, same = model.fit(*tensors).prototypes_, clone(model).fit(*tensors).prototypes_
    assert model.objective_value(X, y) < start
    np.testing.assert_allclose(one, same, rtol=1e-9, atol=1e-9)


@pytest.mark.thin(3)
@places
@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-10), (torch.float32, 2e-4)])
def test_predictions_of_tensors_are_tensors_on_their_device(model, place, dtype, tolerance, data):
    X, y = data
    model = clone(model).set_params(max_iter=20, random_state=0).fit(X, y)
    tensor = torch.as_tensor(X, dtype=dtype, device=place)
    expected = {name: getattr(model, name)(X) for name in ("predict_proba", "decision_function")}
    clear = np.sort(expected["predict_proba"], axis=1)[:, -2:] @ [-1, 1] > 1e-3
    predicted = model.predict(tensor)
    assert isinstance(predicted, torch.Tensor)
    assert predicted.device == tensor.device
    assert predicted.dtype == torch.int64
    np.testing.assert_array_equal(predicted.cpu().numpy()[clear], model.predict(X)[clear])
    assert model.score(tensor, torch.as_tensor(y)) == pytest.approx(model.score(X, y), abs=0.02)
    if hasattr(model, "transform"):
        expected["transform"] = model.transform(X)
    for name, values in expected.items():
        found = getattr(model, name)(tensor)
        assert isinstance(found, torch.Tensor), name
        assert found.device == tensor.device
        assert tuple(found.shape) == values.shape
        np.testing.assert_allclose(found.cpu().numpy(), values, rtol=tolerance, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("prepare", [lambda tensor: tensor.to(torch.bfloat16), torch.Tensor.requires_grad_])
def test_every_method_takes_every_tensor(prepare, data):
    """Also a type that NumPy does not have, and a tensor with a gradient, for rules and streams."""
    X, y = data
    tensor = prepare(torch.as_tensor(X))
    exact, labels = tensor.detach().to(torch.float64).numpy(), torch.as_tensor(y)
    for model in (LVQ1(random_state=0, max_iter=2), GLVQ(random_state=0)):
        expected = clone(model).partial_fit(exact, y, classes=[0, 1, 2]).prototypes_
        streamed = clone(model).partial_fit(tensor, labels, classes=torch.arange(3)).prototypes_
        np.testing.assert_allclose(streamed, expected, rtol=1e-3)
    fitted = LVQ1(random_state=0, max_iter=2).fit(tensor, labels)
    np.testing.assert_allclose(fitted.prototypes_, clone(fitted).fit(exact, y).prototypes_, rtol=1e-3)
    model = GMLVQ(random_state=0, max_iter=5).fit(exact, y)
    np.testing.assert_array_equal(model.explain(tensor).label, model.predict(exact))
    np.testing.assert_array_equal(model.model_.predict(tensor), model.predict(exact))
    np.testing.assert_allclose(as_numpy(model.transform(tensor)), model.transform(exact), rtol=1e-3, atol=1e-3)
    assert model.objective_value(tensor, labels) == pytest.approx(model.objective_value(exact, y), rel=1e-3)


# -- nothing but labels, weights and parameters comes to the host ------------------------------------------------------

LARGE = [
    GLVQ(n_prototypes=3),
    GLVQ(init="means", n_prototypes=2, class_weight="balanced"),
    GLVQ(solver="adam", max_iter=2),
    GMLVQ(relevance=Matrix(rank=2)),
    LOGM(kernel=Gaussian(width="learned")),
    LVQClassifier(relevance="local_matrix", calibration=None),
]


@pytest.fixture
def copied(monkeypatch):
    """Sizes of the tensors that are copied to the host, by any way that torch has."""
    sizes = []
    for name in ("cpu", "numpy", "tolist", "item", "__array__", "__float__", "__bool__"):
        original = getattr(torch.Tensor, name)

        def counted(self, *arguments, original=original, **options):
            sizes.append(self.numel())
            return original(self, *arguments, **options)

        monkeypatch.setattr(torch.Tensor, name, counted)
    return sizes


@pytest.mark.thin(2)
@places
@pytest.mark.parametrize("model", LARGE, ids=str)
def test_samples_are_not_copied_to_the_host(model, place, copied, monkeypatch):
    """3,000 samples of 20 features: labels are 3,000 numbers, parameters fewer, samples 60,000.

    Importances are found from the distances to the prototypes, of at most 2**22 numbers. Starts sort small classes.
    """
    monkeypatch.setattr(starts, "EXACT", 500)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 3000)
    X = rng.normal(size=(3000, 20)) + np.eye(3, 20)[y]
    there = torch.as_tensor(X, device=place), torch.as_tensor(y, device=place)
    model = clone(model).set_params(max_iter=3, random_state=0)
    model.fit(*there)
    if hasattr(model, "transform"):
        model.transform(there[0])
    assert max(copied) <= 3000 * len(model.prototypes_) <= 27000
    assert len(copied) > 3


# -- the same samples, classes and messages as of arrays ---------------------------------------------------------------


def with_value(value):
    def change(X, y):
        X = X.clone()
        X[3, 1] = value
        return X, y

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (with_value(float("nan")), "Input X contains NaN"),
        (with_value(float("inf")), "Input X contains infinity"),
        (with_value(1e160), "squared distances, which overflow for values as large as"),
        (lambda X, y: (X * 1e-160, y), "squared distances, which underflow for features whose range"),
        (lambda X, y: (X * 1j, y), "Complex data not supported"),
        (lambda X, y: (X[:, 0], y), "Expected 2D array, got 1D array"),
        (lambda X, y: (X[:0], y[:0]), "Found array with 0 sample"),
        (lambda X, y: (X, y[:-1]), "inconsistent numbers of samples"),
        (lambda X, y: (X, None), "requires y to be passed, but the target y is None"),
        (lambda X, y: (X, torch.full((len(y),), 1)), r"needs samples of at least two classes .* got 1 class: \[1\]"),
        (lambda X, y: (X, y + 0.5), "Unknown label type: continuous"),
        (lambda X, y: (X, torch.stack((y, y), 1)), "y should be a 1d array"),
    ],
)
def test_messages_are_those_of_arrays(change, message, data):
    X, y = change(*(torch.as_tensor(part) for part in data))
    arrays = X.numpy(), None if y is None else y.numpy()
    for given in (arrays, (X, y)):
        with pytest.raises(ValueError, match=message):
            GLVQ().fit(*given)


# -- a device without float64 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [LARGE[2], LARGE[-1]], ids=str)
def test_arrays_become_float32_where_there_is_no_float64(model, monkeypatch, data):
    X, y = data
    solver = (Adam if model.solver == "adam" else LBFGS)(device="cpu")
    model = clone(model).set_params(solver=solver, max_iter=5, random_state=0)

    def refuse(self):
        raise TypeError("this device has no float64")

    monkeypatch.setattr(rows, "has_float64", lambda device: False)  # the processor as Apple's devices: float32 alone
    monkeypatch.setattr(torch.Tensor, "double", refuse)
    found = clone(model).fit(X, y)
    assert found.prototypes_.dtype == np.float32
    monkeypatch.undo()
    expected = clone(model).fit(X.astype(np.float32), y)
    if isinstance(solver, LBFGS):
        np.testing.assert_allclose(found.prototypes_, expected.prototypes_, rtol=1e-2, atol=1e-2)


# -- torch or a GPU is missing -----------------------------------------------------------------------------------------


def test_without_torch_the_message_has_the_install_command(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)  # makes `import torch` raise
    message = r"device='cpu' needs torch, which is not installed\. Install it with: pip install 'lvq\[gpu\]'"
    with pytest.raises(ImportError, match=message):
        GLVQ(solver=LBFGS(device="cpu")).fit(*data)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
@pytest.mark.parametrize(("solver", "device"), [(LBFGS, "cuda"), (Adam, "cuda:1"), (LBFGS, "nowhere")])
def test_a_device_that_is_not_there(solver, device, data):
    with pytest.raises(ValueError, match=f"device='{device}' is not a device that torch .* finds: "):
        GLVQ(solver=solver(device=device)).fit(*data)
