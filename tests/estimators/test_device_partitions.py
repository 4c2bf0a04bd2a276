"""dask collections with a device: sums of tensors where the partitions lie, the models are those of arrays."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

import lvq
from lvq.estimators import tensors
from lvq.model.device_blocks import Chosen, DeviceBlock
from lvq.model.samples import Block

torch = pytest.importorskip("torch")
dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

pytestmark = [
    pytest.mark.usefixtures("dask_in_this_thread"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
DEVICES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")),
]
QUICK = {"max_iter": 8, "random_state": 0}
MODELS = [
    lvq.GLVQ(**QUICK),
    lvq.GLVQ(n_prototypes=3, solver="adam", batch_size=70, **QUICK),
    lvq.GRLVQ(solver="lbfgs", **QUICK),
    lvq.GMLVQ(n_prototypes=2, init="means", rank=2, **QUICK),
    lvq.GMLVQ(solver="adam", validation_fraction=0.2, **QUICK),
    lvq.LGMLVQ(**QUICK),
    lvq.LOGM(class_weight="balanced", kernel="gaussian", kernel_width="learned", **QUICK),
    lvq.RSLVQ(solver="lbfgs", **QUICK),
    lvq.LVQClassifier(cost_matrix=[[0, 1, 2], [1, 0, 1], [3, 1, 0]], **QUICK),
]


@pytest.fixture(params=[0, 1])
def data(request):
    rng = np.random.default_rng(request.param)
    y = rng.integers(3, size=240)
    return rng.normal(size=(240, 5)) + 1.5 * np.eye(3, 5)[y], y


def in_partitions(X):
    return da.from_array(X, chunks=(70, 3))


def assert_equal(one, other, tolerance):
    assert other.n_iter_ == one.n_iter_
    for part in ("prototypes", "relevance", "importances"):
        a, b = getattr(one.model_, part), getattr(other.model_, part)
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(b, a, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{type(model).__name__}-{model.solver}")
def test_the_model_is_that_of_arrays(model, device, data):
    X, y = data
    found = clone(model).set_params(device=device).fit(in_partitions(X), y)
    close = device == "cpu" and not isinstance(model, lvq.RSLVQ)  # a GPU adds in no fixed order
    assert_equal(clone(model).fit(X, y), found, 1e-10 if close else 1e-7)
    assert found._device == device


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("model", [MODELS[0], MODELS[3], MODELS[6]], ids=lambda model: type(model).__name__)
def test_the_model_is_that_of_a_device_in_memory(model, device, data):
    """Its iterations are written anew, and starts are computed there; they agree but for rounding."""
    X, y = data
    model = clone(model).set_params(device=device)
    assert_equal(clone(model).fit(X, y), clone(model).fit(in_partitions(X), y), 1e-7)


@pytest.mark.parametrize("device", DEVICES)
def test_float32_stays_float32(device, data):
    X, y = data[0].astype(np.float32), data[1]
    model = clone(MODELS[3]).set_params(device=device, max_iter=4)
    found = clone(model).fit(in_partitions(X), y)
    assert found.prototypes_.dtype == np.float32
    assert_equal(clone(model).fit(X, y), found, 2e-3)


@pytest.mark.parametrize("device", DEVICES)
def test_predictions(device, data):
    X, y = data
    model = clone(MODELS[3]).set_params(device=device).fit(in_partitions(X), y)
    rejecting = lvq.RejectClassifier(model, cv="prefit").fit(in_partitions(X), y)
    for fitted, name in ((model, "predict"), (model, "predict_proba"), (rejecting, "predict_or_reject")):
        found, expected = getattr(fitted, name)(in_partitions(X)).compute(), getattr(fitted, name)(X)
        assert found.dtype == expected.dtype
        if expected.dtype.kind == "f":
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
        else:
            np.testing.assert_array_equal(found, expected)


def test_the_device_is_that_of_the_workers(data, monkeypatch):
    """What only describes a result is computed without it, as the client of a cluster may have none."""
    X, y = data
    model = clone(MODELS[0]).set_params(device="cpu").fit(in_partitions(X), y)
    used = []
    monkeypatch.setattr("lvq.estimators.prediction.on_device", lambda X, device: used.append(len(X)) or torch.tensor(X))
    predicted = model.predict(in_partitions(X))
    assert used == []
    predicted.compute()
    assert sorted(used) == [30, 70, 70, 70]


def test_a_device_that_no_worker_has(data, monkeypatch):
    X, y = data
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    model = lvq.GLVQ(device="cuda")
    with pytest.raises(RuntimeError, match=r"The worker of partition .*: device='cuda' needs a CUDA device"):
        model.fit(in_partitions(X), y)
    assert not hasattr(model, "model_")
    with pytest.raises(ValueError, match=r"The worker of partition .*: device='gpu' is not a device of torch"):
        lvq.GLVQ(device="gpu").fit(in_partitions(X), y)


def test_missing_values_need_numpy(data):
    with pytest.raises(ValueError, match=r"missing='ignore' of GLVQ needs .* without a device; got the device 'cpu'"):
        lvq.GLVQ(device="cpu", missing="ignore").fit(in_partitions(data[0]), data[1])


def moved(array):
    return tensors.on_device(array, "cpu")


def test_a_block_is_sent_as_arrays():
    """It is on its device again where it is read; of a CUDA tensor dask itself cannot do that."""
    block = Block(np.arange(6.0).reshape(3, 2), np.array([0, 0, 1]), np.ones(3))
    made = DeviceBlock.of(block, moved)
    assert all(isinstance(part, torch.Tensor) for part in made.block)
    again = pickle.loads(pickle.dumps(made))
    for one, other, tensor in zip(block, again.block, again.block):
        assert isinstance(tensor, torch.Tensor)
        np.testing.assert_array_equal(one, other.numpy())
    rows = Chosen(np.array([0, 2]), 3.0)
    total = again.sum(lambda part: part.weight @ part.X, rows)
    assert isinstance(total, np.ndarray)
    assert total.tolist() == [12.0, 18.0]
