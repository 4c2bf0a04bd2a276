"""The experiments of Ridge, Leonardis and Skocaj: cells, folds, starts, rows and figures."""

import numpy as np
import pytest

from experiments import ridge
from experiments.cells import Cell
from experiments.comparison import published
from lvq.solvers.online import Online


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
    rows = ridge.rows(made_up())
    keys = [(row.table, row.dataset, row.method, row.setting) for row in rows if row.verdict]
    assert sorted(keys) == sorted(published("ridge"))
    assert {row.verdict for row in rows if row.verdict} == {"reproduced"}


def test_a_start_on_the_whole_set_has_a_note_in_place_of_a_verdict():
    rows = [row for row in ridge.rows(made_up()) if row.setting.endswith(ridge.WHOLE_SET)]
    assert len(rows) == 7 * 8 * 2
    assert all(row.verdict == "" and row.note.endswith(": reproduced") for row in rows)


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


def test_fc1_with_even_classes_has_relevances_from_the_first_step():
    prototypes = np.array([[0.1, 0.0], [0.0, 0.9], [0.9, 0.1], [1.0, 0.8]])
    model = ridge.METHODS["FC1LVQ1"].make(
        n_prototypes=2,
        init=(prototypes, [0, 0, 1, 1]),
        solver=Online(learning_rate=1e-9, schedule="constant"),
        random_state=0,
    )
    model.partial_fit([[0.0, 0.3]], [0], classes=[0, 1])
    # class 0 by its winner alone, class 1 by both of its prototypes alike
    winner, others = prototypes[0], prototypes[2:]
    scores = (winner - others.mean(axis=0)) ** 2 / others.var(axis=0)
    np.testing.assert_allclose(model.relevances_, scores / scores.sum(), rtol=1e-6)


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
