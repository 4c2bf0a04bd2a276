"""The experiments of Jin, Liu and Hou: shared folds and starts, the grid, and a tiny run."""

import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.metrics import mutual_info_score

from experiments import jin, jin_protocol, runner
from experiments.cells import Cell
from experiments.jin_protocol import Protocol, Setting

SHORT_PROTOCOL = Protocol(epochs=5, prototypes=(1, 2), taus=(0.5, 1.5), alphas=(0.0, 0.01))


@pytest.fixture
def tiny(monkeypatch):
    """The protocol of the small sets with eight grid points and five epochs, on one set."""
    monkeypatch.setattr(jin_protocol, "SMALL_SET_PROTOCOL", SHORT_PROTOCOL)
    monkeypatch.setattr(jin, "QUICK_SETS", ("iris",))


@pytest.mark.parametrize("method", jin.METHODS)
def test_the_start_is_that_of_the_estimator(method):
    X, y = load_iris(return_X_y=True)
    start, setting = jin_protocol.start_from(X, y, 3), Setting(0.0, 3, 1.0)
    model = jin_protocol.make_model(method, setting, 10).fit(X, y)  # k-means by itself
    fitted = jin_protocol.fit_from(start, method, setting, 10)
    np.testing.assert_array_equal(fitted.prototypes_, model.prototypes_)
    assert np.abs(fitted.prototypes_ - start.prototypes).max() > 0.01


def test_folds_cover_every_sample_once_and_are_scaled_on_their_training_part():
    X, _ = load_iris(return_X_y=True)
    tested = []
    for number in range(jin_protocol.FOLDS):
        split = jin_protocol.fold("iris", 0, number)
        np.testing.assert_allclose(split.X.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(split.X.std(axis=0), 1)
        assert len(split.X) + len(split.X_test) == len(X)
        tested.append(len(split.y_test))
    assert sum(tested) == len(X)
    assert not np.array_equal(jin_protocol.fold("iris", 0, 0).y, jin_protocol.fold("iris", 1, 0).y)


def test_the_grid_has_125_points_and_the_first_best_is_chosen():
    points = jin_protocol.grid(jin_protocol.SMALL_SET_PROTOCOL)
    assert len(set(points)) == 125
    chosen = jin_protocol.search_grid(jin_protocol.SMALL_SET_PROTOCOL, lambda setting: -abs(setting.tau - 1.5))
    assert chosen == Setting(0.0, 1, 1.5)
    assert jin_protocol.search_grid(jin_protocol.SMALL_SET_PROTOCOL, lambda setting: 0.0) == Setting(0.0, 1, 2.0)


def test_information_gain_is_the_mutual_information_of_presence_and_class():
    rng = np.random.RandomState(0)
    counts, y = rng.poisson(0.7, (60, 5)), rng.randint(0, 3, 60)
    found = jin_protocol.information_gain(sparse.csr_array(counts), y)
    expected = [mutual_info_score(y, column > 0) / np.log(2) for column in counts.T]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_a_tiny_run_end_to_end(tiny, tmp_path):
    pytest.importorskip("matplotlib")
    assert runner.run("jin", jin, quick=True, jobs=2, out=tmp_path) == 0
    result = json.loads((tmp_path / "jin.quick.json").read_text())
    assert [(row["dataset"], row["method"]) for row in result["rows"]] == [("iris", name) for name in jin.METHODS]
    assert all(row["mean"] > 80 and row["paper_mean"] > 90 and row["verdict"] for row in result["rows"])
    assert result["figures"] == ["jin.quick-figure-1.png"]
    cells = [json.loads(line) for line in (tmp_path / "jin.quick.cells.jsonl").read_text().splitlines()]
    for cell in cells:
        assert len(cell["result"]["accuracy"]) == len(cell["result"]["chosen"]) == jin_protocol.FOLDS
        assert {tuple(point) for point in cell["result"]["chosen"]} <= set(jin_protocol.grid(SHORT_PROTOCOL))


def test_signed_ranks_of_the_published_means_are_those_of_the_paper():
    found = {
        Cell("table-1", dataset, method): {"accuracy": [mean / 100]}
        for (_, dataset, method, _), (mean, _) in jin.published("jin").items()
    }
    table = jin._signed_ranks(found)[1]
    for rival, printed, tolerance in (("MCE", 0.1099, 0.005), ("SNPC", 0.1099, 0.005), ("GLVQ", 0.0640, 5e-5)):
        line = next(line for line in table.splitlines() if line.startswith(f"| {rival} "))
        ours, theirs, published = (float(part) for part in line.split("|")[3:6])
        assert ours == theirs == pytest.approx(printed, abs=tolerance)
        assert published == printed
    assert jin._signed_ranks({}) == []
