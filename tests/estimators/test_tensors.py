"""torch tensors: tensors in, tensors out, equal to NumPy, the samples never on the host, and the messages of arrays."""

import sys
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from lvq import GLVQ, GMLVQ, GRLVQ, LOGM, LVQ1, RSLVQ, LVQClassifier
from lvq.estimators import tensors as module
from lvq.estimators.inputs import training_samples
from lvq.model import rows, start_prototypes
from lvq.model.links import Gaussian
from lvq.model.relevance import Matrix
from lvq.model.rows import as_numpy, is_tensor
from lvq.solvers.adam import Adam
from lvq.solvers.lbfgs import LBFGS

torch = pytest.importorskip("torch")

MODELS = [
    GLVQ(n_prototypes=2),
    GRLVQ(kernel="cauchy"),
    GMLVQ(relevance=Matrix(rank=2)),
    LOGM(kernel=Gaussian(width="learned")),
    RSLVQ(n_prototypes=2, decision="posterior"),
    LVQClassifier(),
    LVQClassifier(cost="mce", relevance="matrix", cost_matrix=[[0, 2, 1], [1, 0, 1], [1, 3, 0]]),
]
PLACES = [
    "cpu",
    pytest.param(
        "cuda",
        marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
    ),
]
places = pytest.mark.parametrize("place", PLACES)


def short_repr(model):
    return repr(model).replace("\n", "").replace(" ", "")


def quiet_fit(model, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*arguments)


def assert_same_model(ours, theirs, tolerance):
    np.testing.assert_allclose(ours.prototypes_, theirs.prototypes_, rtol=tolerance, atol=tolerance)
    for name in ("omega_", "relevances_", "kernel_width_"):
        assert hasattr(ours, name) == hasattr(theirs, name)
        if hasattr(ours, name):
            np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=tolerance, atol=tolerance)


@pytest.mark.thin(3)
@places
@pytest.mark.parametrize("model", MODELS, ids=short_repr)
def test_fit_on_tensors_equals_fit_on_arrays(model, place, data):
    """Five iterations, so that rounding has no time to grow; what is learned is NumPy's again."""
    X, y = data
    weight = np.random.default_rng(0).uniform(0.5, 2, len(X))
    model = clone(model).set_params(solver="lbfgs", max_iter=5, random_state=0)
    plain = quiet_fit(clone(model), X, y, weight)
    tensors = [torch.as_tensor(part, device=place) for part in (X, y, weight)]
    on_tensors = quiet_fit(clone(model), *tensors)
    by_device = quiet_fit(clone(model).set_params(solver=LBFGS(device=place)), X, y, weight)
    for other in (on_tensors, by_device):
        assert isinstance(other.prototypes_, np.ndarray)
        assert_same_model(other, plain, 1e-7)
        np.testing.assert_array_equal(other.classes_, plain.classes_)
        assert isinstance(other.classes_, np.ndarray)


@pytest.mark.thin(5)
@places
@pytest.mark.parametrize("model", MODELS, ids=short_repr)
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
@pytest.mark.parametrize("model", MODELS, ids=short_repr)
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-10), (torch.float32, 2e-4)])
def test_predictions_of_tensors_are_tensors_on_their_device(model, place, dtype, tolerance, data):
    X, y = data
    model = quiet_fit(clone(model).set_params(max_iter=20, random_state=0), X, y)
    tensor = torch.as_tensor(X, dtype=dtype, device=place)
    expected = {name: getattr(model, name)(X) for name in ("predict_proba", "decision_function")}
    clear = np.sort(expected["predict_proba"], axis=1)[:, -2:] @ [-1, 1] > 1e-3
    predicted = model.predict(tensor)
    assert isinstance(predicted, torch.Tensor)
    assert predicted.device == tensor.device
    assert predicted.dtype == torch.int64
    np.testing.assert_array_equal(predicted.cpu().numpy()[clear], model.predict(X)[clear])
    for name, values in expected.items():
        found = getattr(model, name)(tensor)
        assert isinstance(found, torch.Tensor), name
        assert found.device == tensor.device
        assert tuple(found.shape) == values.shape
        np.testing.assert_allclose(found.cpu().numpy(), values, rtol=tolerance, atol=tolerance, err_msg=name)


@places
def test_labels_of_any_kind(place, data):
    """Strings cannot be tensors: they stay an array. Other numbers keep their own type."""
    X, y = data
    tensor = torch.as_tensor(X, device=place)
    names = np.array(["ash", "birch", "cedar"])[y]
    named = quiet_fit(GLVQ(random_state=0), tensor, names)
    assert isinstance(named.predict(tensor), np.ndarray)
    np.testing.assert_array_equal(named.predict(tensor), named.predict(X))
    assert isinstance(named.predict_proba(tensor), torch.Tensor)
    numbered = quiet_fit(GLVQ(random_state=0), tensor, torch.as_tensor(10 * y + 5, dtype=torch.int32, device=place))
    assert set(numbered.predict(tensor).tolist()) == {5, 15, 25}
    assert numbered.predict(tensor).dtype == torch.int32
    np.testing.assert_array_equal(np.searchsorted(named.classes_, named.predict(X)), numbered.predict(X) // 10)


@places
def test_score_and_objective_of_tensors(place, data):
    X, y = data
    model = quiet_fit(GMLVQ(random_state=0), X, y)
    tensors = torch.as_tensor(X, device=place), torch.as_tensor(y, device=place)
    assert model.score(*tensors) == pytest.approx(model.score(X, y))
    assert model.objective_value(*tensors) == pytest.approx(model.objective_value(X, y), rel=1e-12)


@places
def test_transform_of_tensors(place, data):
    """As the other outputs: a tensor on the device of the samples."""
    X, y = data
    model = quiet_fit(GMLVQ(relevance=Matrix(rank=2), random_state=0), X, y)
    images = model.transform(torch.as_tensor(X, device=place))
    assert isinstance(images, torch.Tensor)
    np.testing.assert_allclose(images.cpu().numpy(), model.transform(X), rtol=1e-12)


@places
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8, torch.bool])
def test_integer_tensors(dtype, place):
    """Tensors of integers are predicted as arrays of them."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.integers(0, 2 if dtype == torch.bool else 5, (60, 3)) + y[:, None] * np.array(
        [0 if dtype == torch.bool else 3, 0, 0]
    )
    model = quiet_fit(GLVQ(random_state=0), X, y)
    tensor = torch.as_tensor(X, device=place).to(dtype)
    np.testing.assert_array_equal(model.predict(tensor).cpu().numpy(), model.predict(X))
    np.testing.assert_allclose(model.decision_function(tensor).cpu().numpy(), model.decision_function(X), atol=1e-5)


@places
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("fitted_on", [np.float32, np.float64])
def test_half_precision(dtype, fitted_on, place, data):
    """Numbers of half precision are predicted and learned as the same numbers in the precision of the model."""
    X, y = data
    half = torch.as_tensor(X, device=place).to(dtype)
    exact = half.cpu().to(torch.float64).numpy()
    model = quiet_fit(GMLVQ(random_state=0), X.astype(fitted_on), y)
    np.testing.assert_array_equal(model.predict(half).cpu().numpy(), model.predict(exact.astype(fitted_on)))
    proba = model.predict_proba(half)
    assert proba.dtype == (torch.float32 if fitted_on == np.float32 else torch.float64)
    np.testing.assert_allclose(proba.cpu().numpy(), model.predict_proba(exact.astype(fitted_on)), rtol=1e-4)
    learned = quiet_fit(GMLVQ(random_state=0, max_iter=5), half, y)
    expected = quiet_fit(GMLVQ(random_state=0, max_iter=5), exact.astype(np.float32), y)
    assert learned.prototypes_.dtype == np.float32
    assert_same_model(learned, expected, 1e-3)


@places
@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
def test_complex_tensors_are_refused(dtype, place, data):
    X, y = data
    complex_tensor = torch.as_tensor(X, device=place).to(dtype)
    with pytest.raises(ValueError, match=r"GLVQ needs real numbers\. Complex data not supported"):
        GLVQ().fit(complex_tensor, y)
    model = quiet_fit(GLVQ(random_state=0, max_iter=5), X, y)
    for method in ("predict", "predict_proba", "decision_function"):
        with pytest.raises(ValueError, match=r"GLVQ needs real numbers\. Complex data not supported"):
            getattr(model, method)(complex_tensor)


def test_a_tensor_that_requires_a_gradient(data):
    X, y = data
    tensor = torch.as_tensor(X).requires_grad_()
    model = quiet_fit(GLVQ(random_state=0, max_iter=5), tensor, y)
    assert not model.predict_proba(tensor).requires_grad
    np.testing.assert_array_equal(model.predict(tensor).numpy(), model.predict(X))


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
    fitted = quiet_fit(LVQ1(random_state=0, max_iter=2), tensor, labels)
    np.testing.assert_allclose(fitted.prototypes_, clone(fitted).fit(exact, y).prototypes_, rtol=1e-3)
    model = quiet_fit(GMLVQ(random_state=0, max_iter=5), exact, y)
    np.testing.assert_array_equal(model.explain(tensor).label, model.predict(exact))
    np.testing.assert_array_equal(model.model_.predict(tensor), model.predict(exact))
    np.testing.assert_allclose(as_numpy(model.transform(tensor)), model.transform(exact), rtol=1e-3, atol=1e-3)
    assert model.objective_value(tensor, labels) == pytest.approx(model.objective_value(exact, y), rel=1e-3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: X[:, :3], "X has 3 features, but GLVQ is expecting 4 features"),
        (lambda X: X[0], "Expected 2D array, got 1D array"),
        (lambda X: X * float("nan"), "Input X contains NaN"),
        (lambda X: X.abs() / 0, "Input X contains infinity"),
        (lambda X: X * 1e160, "squared distances, which overflow"),
    ],
)
def test_bad_tensors_raise_the_same_messages(change, message, data):
    X, y = data
    model = quiet_fit(GLVQ(random_state=0), X, y)
    with pytest.raises(ValueError, match=message):
        model.predict(change(torch.as_tensor(X)))


def test_float32_tensors_are_learned_in_float32(data):
    X, y = data
    narrow = torch.as_tensor(X, dtype=torch.float32)
    model = quiet_fit(GMLVQ(random_state=0, max_iter=5), narrow, y)
    assert model.prototypes_.dtype == model.omega_.dtype == np.float32
    assert_same_model(model, quiet_fit(GMLVQ(random_state=0, max_iter=5), X, y), 2e-3)


# -- nothing but labels, weights and parameters comes to the host ------------------------------------------------------

LARGE = [
    GLVQ(n_prototypes=3),
    GLVQ(init="means", n_prototypes=2, class_weight="balanced"),
    GLVQ(solver="adam", max_iter=2),
    GRLVQ(kernel="cauchy"),
    GMLVQ(relevance=Matrix(rank=2)),
    GMLVQ(),
    LOGM(kernel=Gaussian(width="learned")),
    RSLVQ(n_prototypes=2),
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


@pytest.mark.thin(5)
@places
@pytest.mark.parametrize("model", LARGE, ids=short_repr)
def test_samples_are_not_copied_to_the_host(model, place, copied, monkeypatch):
    """3,000 samples of 20 features: labels are 3,000 numbers, parameters fewer, samples 60,000.

    Importances are found from the distances to the prototypes, of at most 2**22 numbers. Starts sort small classes.
    """
    monkeypatch.setattr(start_prototypes, "EXACT", 500)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 3000)
    X = rng.normal(size=(3000, 20)) + np.eye(3, 20)[y]
    there = torch.as_tensor(X, device=place), torch.as_tensor(y, device=place)
    model = clone(model).set_params(max_iter=3, random_state=0)
    quiet_fit(model, *there)
    if hasattr(model, "transform"):
        model.transform(there[0])
    assert max(copied) <= 3000 * len(model.prototypes_) <= 27000
    assert len(copied) > 3


def test_a_copy_would_be_noticed(copied):
    torch.zeros(40, 20).cpu().numpy()
    np.asarray(torch.zeros(30))
    assert {800, 30} <= set(copied)


# -- the same samples, classes and messages as of arrays ---------------------------------------------------------------


def expected_and_found(X, y, weight, place="cpu", **parameters):
    """Samples and classes of arrays and of tensors."""
    expected = training_samples(GLVQ(**parameters), X, y, weight, reset=True)
    labels = torch.as_tensor(y, device=place) if y.dtype.kind in "bif" else y
    weights = None if weight is None else torch.as_tensor(weight, device=place)
    given = torch.as_tensor(X, device=place), labels, weights
    found = training_samples(GLVQ(**parameters), *given, reset=True, device=place)
    return expected, found


@pytest.mark.thin(7)
@places
@pytest.mark.parametrize("labels", [[0, 1, 2], [-5, 3, 900], [0.0, 1.0, 2.0], ["a", "bb", "c"], [False, True, True]])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_samples_and_classes(labels, weighted, class_weight, place, data):
    X, y = data
    y = np.array(labels)[y]
    weight = np.arange(len(X)) % 4.0 if weighted else None
    expected, found = expected_and_found(X, y, weight, place, class_weight=class_weight)
    np.testing.assert_array_equal(found.classes, expected.classes)
    assert found.classes.dtype == expected.classes.dtype
    for part in ("X", "y", "weight"):
        given = getattr(found.samples, part)
        assert is_tensor(given)
        np.testing.assert_allclose(as_numpy(given), getattr(expected.samples, part), rtol=1e-12)


def with_value(value):
    def change(X, y):
        X = X.clone()
        X[3, 1] = value
        return X, y

    return change


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (with_value(float("nan")), "Input X contains NaN"),
        (with_value(float("inf")), "Input X contains infinity"),
        (with_value(1e160), "squared distances, which overflow for values as large as"),
        (lambda X, y: (X * 1e-160, y), "squared distances, which underflow for features whose range"),
        (lambda X, y: (X[:, 0], y), "Expected 2D array, got 1D array"),
        (lambda X, y: (X[:0], y[:0]), "Found array with 0 sample"),
        (lambda X, y: (X[:, :0], y), "Found array with 0 feature"),
        (lambda X, y: (X, y[:-1]), "inconsistent numbers of samples"),
        (lambda X, y: (X, None), "requires y to be passed, but the target y is None"),
        (lambda X, y: (X, torch.full((len(y),), 1)), "needs samples of at least two classes, got 1 class: 1"),
        (lambda X, y: (X, y + 0.5), "Unknown label type: continuous"),
        (lambda X, y: (X, torch.where(y > 0, y, float("nan"))), "Input y contains NaN"),
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


@pytest.fixture
def narrow_device(monkeypatch):
    """The processor as a device that has float32 alone, as Apple's."""
    for place in (rows, module):
        monkeypatch.setattr(place, "has_float64", lambda device: False)


@pytest.mark.parametrize("model", [*LARGE[:3], LARGE[-1]], ids=short_repr)
def test_arrays_become_float32_where_there_is_no_float64(model, narrow_device, monkeypatch, data):
    X, y = data
    solver = (Adam if model.solver == "adam" else LBFGS)(device="cpu")
    model = clone(model).set_params(solver=solver, max_iter=5, random_state=0)

    def refuse(self):
        raise TypeError("this device has no float64")

    monkeypatch.setattr(torch.Tensor, "double", refuse)
    found = quiet_fit(clone(model), X, y)
    assert found.prototypes_.dtype == np.float32
    monkeypatch.undo()
    expected = quiet_fit(clone(model), X.astype(np.float32), y)
    if isinstance(solver, LBFGS):
        np.testing.assert_allclose(found.prototypes_, expected.prototypes_, rtol=1e-2, atol=1e-2)


def test_values_too_large_for_float32(narrow_device, data):
    X, y = data
    with pytest.raises(ValueError, match="squared distances, which overflow"):
        GLVQ(solver=LBFGS(device="cpu")).fit(X * 1e20, y)


# -- torch or a GPU is missing -----------------------------------------------------------------------------------------


def test_without_torch_the_message_has_the_install_command(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)  # makes `import torch` raise
    message = r"device='cpu' needs torch, which is not installed\. Install it with: pip install 'lvq\[gpu\]'"
    with pytest.raises(ImportError, match=message):
        GLVQ(solver=LBFGS(device="cpu")).fit(*data)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
@pytest.mark.parametrize("solver", [LBFGS, Adam])
@pytest.mark.parametrize("device", ["cuda", "cuda:1", "mps", "nowhere"])
def test_a_device_that_is_not_there(solver, device, data):
    with pytest.raises(ValueError, match=f"device='{device}' is not a device that torch .* finds: "):
        GLVQ(solver=solver(device=device)).fit(*data)


# -- the small functions -----------------------------------------------------------------------------------------------
