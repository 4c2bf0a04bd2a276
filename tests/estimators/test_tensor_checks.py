"""Tensors are checked on their device: the messages of arrays, and no copy of the samples on the host."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from lvq import GLVQ, GMLVQ, GRLVQ, LOGM, RSLVQ, LVQClassifier
from lvq.estimators import tensors as module
from lvq.estimators.tensor_checks import training_tensors
from lvq.estimators.validation import check_training_data
from lvq.model import arrays

torch = pytest.importorskip("torch")

PLACES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")),
]
places = pytest.mark.parametrize("place", PLACES)


def quiet_fit(model, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*arguments)


# -- nothing but labels, weights and parameters comes to the host ------------------------------------------------------

MODELS = [
    GLVQ(n_prototypes=3),
    GLVQ(init="means", n_prototypes=2, class_weight="balanced"),
    GLVQ(solver="adam", max_iter=2),
    GRLVQ(kernel="cauchy"),
    GMLVQ(rank=2),
    GMLVQ(),
    LOGM(kernel="gaussian", kernel_width="learned"),
    RSLVQ(n_prototypes=2),
    LVQClassifier(),
    LVQClassifier(rank=2, relevance="matrix"),
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


@places
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_samples_are_not_copied_to_the_host(model, place, copied):
    """3,000 samples of 20 features: labels are 3,000 numbers, parameters fewer, samples 60,000.

    Importances are found from the distances to the prototypes, of at most 2**22 numbers.
    """
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 3000)
    X = rng.normal(size=(3000, 20)) + np.eye(3, 20)[y]
    there = torch.as_tensor(X, device=place), torch.as_tensor(y, device=place)
    model = clone(model).set_params(max_iter=3, random_state=0)
    quiet_fit(model, *there)
    model.objective_value(*there)
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
    expected = check_training_data(GLVQ(**parameters), X, y, weight, reset=True)
    labels = torch.as_tensor(y, device=place) if y.dtype.kind in "bif" else y
    weights = None if weight is None else torch.as_tensor(weight, device=place)
    found = training_tensors(GLVQ(**parameters), torch.as_tensor(X, device=place), labels, weights, reset=True)
    return expected, found


@places
@pytest.mark.parametrize("labels", [[0, 1, 2], [-5, 3, 900], [0.0, 1.0, 2.0], ["a", "bb", "c"], [False, True, True]])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_samples_and_classes(labels, weighted, class_weight, place, data):
    X, y = data
    y = np.array(labels)[y]
    weight = np.arange(len(X)) % 4.0 if weighted else None
    (X, index, weight, classes), (samples, found) = expected_and_found(X, y, weight, place, class_weight=class_weight)
    np.testing.assert_array_equal(found, classes)
    assert found.dtype == classes.dtype
    np.testing.assert_array_equal(samples.X.cpu().numpy(), X)
    np.testing.assert_array_equal(samples.y.cpu().numpy(), index)
    np.testing.assert_allclose(samples.weight.cpu().numpy(), weight / weight.mean(), rtol=1e-12)


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.int32, np.uint32])
def test_labels_keep_their_type(kind, data):
    X, y = data
    assert quiet_fit(GLVQ(max_iter=2, random_state=0), torch.as_tensor(X), y.astype(kind)).classes_.dtype == kind


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


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (lambda y: torch.full(y.shape, -1.0), "Negative values in data passed to `sample_weight`"),
        (lambda y: torch.ones(len(y) - 1), r"sample_weight.shape == \(\d+,\), expected \(\d+,\)"),
        (lambda y: torch.full(y.shape, float("nan")), "Input sample_weight contains NaN"),
        (lambda y: (y == 2).double(), "needs samples of at least two classes, got 1 class: 2. Samples of weight 0 do"),
    ],
)
def test_messages_of_weights(weight, message, data):
    X, y = (torch.as_tensor(part) for part in data)
    with pytest.raises(ValueError, match=message):
        GLVQ().fit(X, y, weight(y))


def test_the_objective_of_bad_tensors(data):
    X, y = (torch.as_tensor(part) for part in data)
    model = quiet_fit(GLVQ(random_state=0, max_iter=3), X, y)
    with pytest.raises(ValueError, match=r"y of GLVQ.objective_value contains \[7\]"):
        model.objective_value(X, torch.where(y == 1, 7, y))
    with pytest.raises(ValueError, match="Input X contains NaN"):
        model.objective_value(X * float("nan"), y)


def test_a_column_of_labels_warns_as_an_array_does(data):
    X, y = (torch.as_tensor(part) for part in data)
    with pytest.warns(UserWarning, match="A column-vector y was passed"):
        quiet_fit(GLVQ(random_state=0, max_iter=3), X, y[:, None])


def test_a_failed_fit_leaves_the_model(data):
    X, y = (torch.as_tensor(part) for part in data)
    model = quiet_fit(GLVQ(random_state=0, max_iter=3), X, y)
    before = dict(vars(model))
    with pytest.raises(ValueError, match="Input X contains NaN"):
        model.fit(X[:, :2] * float("nan"), y)
    assert vars(model) == before


# -- a device without float64 ------------------------------------------------------------------------------------------


@pytest.fixture
def narrow_device(monkeypatch):
    """The processor as a device that has float32 alone, as Apple's."""
    for place in (arrays, module):
        monkeypatch.setattr(place, "has_float64", lambda device: False)


@pytest.mark.parametrize("model", MODELS[:3] + MODELS[-2:], ids=repr)
def test_arrays_become_float32_where_there_is_no_float64(model, narrow_device, monkeypatch, data):
    X, y = data
    model = clone(model).set_params(device="cpu", max_iter=5, random_state=0)

    def refuse(self):
        raise TypeError("this device has no float64")

    monkeypatch.setattr(torch.Tensor, "double", refuse)
    found = quiet_fit(clone(model), X, y)
    assert found.prototypes_.dtype == np.float32
    assert found.predict_proba(X).dtype == np.float32
    monkeypatch.undo()
    expected = quiet_fit(clone(model), X.astype(np.float32), y)
    if model.solver != "adam":
        np.testing.assert_allclose(found.prototypes_, expected.prototypes_, rtol=1e-2, atol=1e-2)


def test_values_too_large_for_float32(narrow_device, data):
    X, y = data
    with pytest.raises(ValueError, match="squared distances, which overflow"):
        GLVQ(device="cpu").fit(X * 1e20, y)
    model = quiet_fit(GLVQ(device="cpu", max_iter=3, random_state=0), X, y)
    with pytest.raises(ValueError, match="squared distances, which overflow"):
        model.predict(X * 1e20)


def test_without_an_apple_gpu(data):
    if torch.backends.mps.is_available():
        pytest.skip("has one")
    with pytest.raises(RuntimeError, match=r"device='mps' needs an Apple GPU, and torch .* finds none"):
        GLVQ(device="mps").fit(*data)
