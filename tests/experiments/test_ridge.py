"""The experiments of Ridge, Leonardis and Skocaj: cells, folds, starts, rows and figures."""

import numpy as np
import pytest

from experiments import ridge
from experiments.cells import Cell
from experiments.comparison import published


def made_up(quick=False):
    """A result for every cell: ten folds at the published mean, and even relevances."""
    printed = published("ridge")
    found = {}
    for cell in ridge.cells(quick):
        mean = printed[cell.table, cell.dataset, cell.method, cell.setting.removesuffix(ridge.WHOLE_SET)][0]
        found[cell] = {"accuracy": [mean] * 10}
        if cell.method not in ("LVQ1", "GLVQ", "SVM-RBF"):
            n_features = {"simulated": 10, "iris": 4, "affordance": 11}.get(cell.dataset, 13)
            found[cell]["relevances"] = [1 / n_features] * n_features
    return found


def test_every_published_row_is_reproduced_once():
    """Starts on the whole set have a note instead of a verdict."""
    rows = ridge.rows(made_up())
    keys = [(row.table, row.dataset, row.method, row.setting) for row in rows if row.verdict]
    assert sorted(keys) == sorted(published("ridge"))
    assert {row.verdict for row in rows if row.verdict} == {"reproduced"}
    whole = [row for row in rows if row.setting.endswith(ridge.WHOLE_SET)]
    assert len(whole) == 7 * 8 * 2
    assert all(row.verdict == "" and row.note.endswith(": reproduced") for row in whole)


@pytest.mark.parametrize("n_samples", [47, 90, 150, 351])
def test_folds_are_tenths_of_a_random_order(n_samples):
    pairs = list(ridge.folds(n_samples, run=3))
    assert [len(test) for _, test in pairs] == [n_samples // 10] * 9 + [n_samples - 9 * (n_samples // 10)]
    assert sorted(np.concatenate([test for _, test in pairs])) == list(range(n_samples))
    assert all(np.intersect1d(train, test).size == 0 and len(train) + len(test) == n_samples for train, test in pairs)
    assert not np.array_equal(pairs[0][1], next(ridge.folds(n_samples, run=4))[1])


@pytest.mark.parametrize("init", ["random", "kmeans"])
@pytest.mark.parametrize("before_folds", [False, True])
def test_all_methods_share_their_start(init, before_folds):
    X, y = ridge.samples("iris", 0)
    still = ridge.Setting(init, 1, 1e-12, 1e-12, 1, before_folds)
    start = ridge.start_of(X, y, still, seed=7)
    models = [ridge.model_of(method, still, 3, start, seed=7).fit(X[::2], y[::2]) for method in ridge.METHODS]
    for model in models:
        np.testing.assert_allclose(model.prototypes_, models[0].prototypes_, atol=1e-6)
        assert np.bincount(model.prototype_labels_).tolist() == [3, 3, 4]
    if before_folds:
        np.testing.assert_allclose(models[0].prototypes_, start[0], atol=1e-6)
    else:
        assert start == init


@pytest.mark.parametrize("method", ["LVQ1", "RLVQ", "GRLVQ", "FC1GLVQ", "FC2LVQ1"])
def test_a_cell_is_deterministic_and_learns(method):
    cell = Cell("table-2", "iris", method, "kmeans-1-epoch", 1)
    result = ridge.compute(cell)
    assert result == ridge.compute(cell)
    assert len(result["accuracy"]) == 10
    assert np.mean(result["accuracy"]) > 85
    if method == "LVQ1":
        assert "relevances" not in result
    else:
        assert sum(result["relevances"]) == pytest.approx(1, abs=1e-3)


def test_figures_are_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    drawn = ridge.figures(made_up(quick=True), tmp_path)
    assert len(drawn) == 3
    for path in drawn:
        assert path.name.startswith("ridge-")
        assert path.read_bytes().startswith(b"\x89PNG")
    few = {Cell("table-2", "iris", "LVQ1", "random-1-epoch"): {"accuracy": [50.0, 60.0]}}
    assert [path.name for path in ridge.figures(few, tmp_path)] == ["ridge-table-2.png"]
