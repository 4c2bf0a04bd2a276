"""PrototypeHead: the plain model as the last layer of a network."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GLVQ, GMLVQ, LVQClassifier, RejectClassifier

torch = pytest.importorskip("torch")
from lvq.torch import PrototypeHead  # noqa: E402 - needs torch


def draw(n_samples=120, seed=0):
    rng = np.random.default_rng(seed)
    y = np.array(["a", "b", "c"])[np.arange(n_samples) % 3]
    return rng.normal(size=(n_samples, 4)) + 2 * np.eye(3, 4)[np.arange(n_samples) % 3], y


def plain(metric="euclidean", **parameters):
    return LVQClassifier(form="plain", metric=metric, random_state=0, **parameters)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("n_prototypes", [1, {"a": 1, "b": 3, "c": 2}])
def test_there_and_back(metric, n_prototypes):
    X, y = draw()
    model = plain(metric, n_prototypes=n_prototypes).fit(X, y)
    assert model.model_.decision.temperature != 1
    head = PrototypeHead.from_estimator(model)
    queries = draw(50, 1)[0]
    lengths = np.linalg.norm(queries, axis=1, keepdims=True) if metric == "cosine" else 1
    np.testing.assert_allclose(head(torch.tensor(queries)).softmax(1).detach(), model.predict_proba(queries), atol=1e-6)
    back = head.to_estimator()
    np.testing.assert_allclose(back.predict_proba(queries), model.predict_proba(queries), atol=1e-6)
    assert back.predict(queries).tolist() == model.predict(queries).tolist()
    np.testing.assert_allclose(back.prototypes_, model.prototypes_, atol=1e-12)
    np.testing.assert_allclose(back.predict_proba(3 * queries / lengths), model.predict_proba(3 * queries / lengths))
    assert back.max_iter == model.max_iter
    again = PrototypeHead.from_estimator(back)
    assert torch.allclose(again(torch.tensor(queries)), head(torch.tensor(queries)))
    assert PrototypeHead.from_estimator(model.model_).classes.tolist() == ["a", "b", "c"]
    state = PrototypeHead(4, ["a", "b", "c"], n_prototypes, unit_length=metric == "cosine").double()
    state.load_state_dict(head.state_dict())
    assert torch.equal(state(torch.tensor(queries)), head(torch.tensor(queries)))


@pytest.mark.parametrize("unit_length", [False, True])
def test_gradients(unit_length):
    torch.manual_seed(0)
    head = PrototypeHead(4, list("abc"), 2, unit_length=unit_length).double()
    Z = torch.randn(7, 4, dtype=torch.float64, requires_grad=True)
    names, values = zip(*head.named_parameters())
    assert torch.autograd.gradcheck(
        lambda Z, *given: torch.func.functional_call(head, dict(zip(names, given)), Z), (Z, *values)
    )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision(dtype):
    X, y = draw()
    head = PrototypeHead.from_estimator(plain("cosine").fit(X, y)).to(dtype)
    assert head.to_estimator().prototypes_.dtype == np.float32
    assert head.to_estimator().score(X, y) > 0.8


def test_the_estimator_is_a_whole_one(tmp_path):
    """It can be saved, calibrated, explained and trained further."""
    import lvq

    X, y = draw()
    back = PrototypeHead.from_estimator(plain().fit(X, y)).to_estimator()
    lvq.save(back, tmp_path / "model.lvq")
    assert lvq.load(tmp_path / "model.lvq").predict(X).tolist() == back.predict(X).tolist()
    reject = RejectClassifier(back, cv="prefit", min_coverage=0.8, measure="combined").fit(X, y)
    assert 0.7 < reject.coverage(X) < 0.9
    assert lvq.explain(back, X[:3]).contributions.shape == (3, 4)
    assert back.fit(X, y).score(X, y) > 0.8


def test_training_with_an_encoder():
    """A small network on the digits: encoder and prototypes together."""
    X, y = load_digits(return_X_y=True)
    images = torch.tensor(X / 16, dtype=torch.float32).reshape(-1, 1, 8, 8)
    targets = torch.tensor(y)
    for seed in range(2):
        torch.manual_seed(seed)
        head = PrototypeHead(32, range(10))
        encoder = torch.nn.Sequential(
            torch.nn.Conv2d(1, 16, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
            torch.nn.Conv2d(16, 32, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
            torch.nn.Flatten(), torch.nn.Linear(128, 32),
        )  # fmt: skip
        network = torch.nn.Sequential(encoder, head)
        optimiser, loss = torch.optim.Adam(network.parameters(), 3e-3), torch.nn.CrossEntropyLoss()
        for _ in range(6):
            for rows in torch.randperm(1200).split(64):
                optimiser.zero_grad()
                loss(network(images[rows]), targets[rows]).backward()
                optimiser.step()
        with torch.no_grad():
            embedded = encoder(images[1200:]).numpy()
            predicted = network(images[1200:]).argmax(1).numpy()
        assert (predicted == y[1200:]).mean() > 0.88
        assert np.array_equal(head.to_estimator().predict(embedded), predicted)


def test_refused():
    X, y = draw()
    for model in (GMLVQ(random_state=0), GLVQ(random_state=0), LVQClassifier(form="additive", random_state=0)):
        with pytest.raises(ValueError, match=r"needs probabilities softmax\(-xi d\) in the plain metric"):
            PrototypeHead.from_estimator(make_pipeline(StandardScaler(), model).fit(X, y))
    with pytest.raises(ValueError, match="classes of PrototypeHead must be distinct"):
        PrototypeHead(4, ["a", "a"])
    with pytest.raises(ValueError, match="n_prototypes of PrototypeHead must be at least 1"):
        PrototypeHead(4, ["a", "b"], 0)
    with pytest.raises(ValueError, match="scale of PrototypeHead must be positive"):
        PrototypeHead(4, ["a", "b"], scale=0)
