"""The experiments of Kaestner et al.: cells, folds, matrices for pictures, rows and figures."""

import numpy as np
import pytest

from experiments import kaestner
from experiments.cells import Cell
from experiments.comparison import published


def made_up():
    """A result for every cell of the tables, at the published mean."""
    printed = published("kaestner")
    found = {}
    for cell in kaestner.cells(False):
        if cell.table == "figures":
            continue
        dataset = kaestner.NOT_PUBLIC if cell.dataset in kaestner.SPECTRA else cell.dataset
        mean = printed[cell.table, dataset, cell.method, cell.setting][0]
        found[cell] = {"accuracy": [mean] * 3, "confusion": [[9, 1], [2, 8]], "support_vectors": 50.0}
    return found


def test_every_published_row_but_coffee_has_a_verdict():
    """Substitutes are named so."""
    rows = kaestner.rows(made_up())
    judged = {(row.table, row.dataset, row.method, row.setting) for row in rows if row.verdict}
    assert judged == {key for key in published("kaestner") if key[1] != kaestner.NOT_PUBLIC}
    assert {row.verdict for row in rows if row.dataset in kaestner.UCI} == {"reproduced"}
    stand_ins = [row for row in rows if row.dataset in kaestner.SPECTRA]
    assert len(stand_ins) == 12
    assert all("stand-in" in row.dataset and row.verdict == "" and row.paper_mean is None for row in stand_ins)
    assert stand_ins[0].note == "83.29 on the paper's own coffee spectra"


def test_folds_keep_classes_in_proportion_and_copies_together():
    random = np.random.RandomState(1)
    X, y = random.standard_normal((90, 4)), np.arange(90) % 2
    X[60:] = X[:30]  # copies, of the same class
    for train, test in kaestner.folds(X, y, run=0):
        assert abs(y[test].mean() - 0.5) < 0.15
        copied = {tuple(x) for x in X[train]} & {tuple(x) for x in X[test]}
        assert not copied


@pytest.mark.parametrize("method", kaestner.METHODS)
def test_a_cell_is_deterministic_and_learns(method):
    cell = Cell("table-1", "wdbc", method, kaestner.ONE_EACH, 1)
    result = kaestner.compute(cell)
    assert result == kaestner.compute(cell)
    assert min(result["accuracy"]) > 85
    total = np.array(result["confusion"])
    assert total.sum(axis=1).tolist() == [212, 357]
    assert 100 * np.trace(total) / total.sum() == pytest.approx(np.mean(result["accuracy"]), abs=0.5)


def test_figures_are_drawn(monkeypatch, tmp_path):
    pytest.importorskip("matplotlib")
    y = np.arange(40) % 2
    noise = np.random.RandomState(0).standard_normal((40, 120)).cumsum(axis=1)  # smooth spectra
    monkeypatch.setattr(kaestner, "samples", lambda dataset: (3 + 0.02 * noise + 0.3 * y[:, None], y, ("a", "b")))
    dataset = "coffee (UCR, stand-in)"
    found = {
        Cell("figures", dataset, method): kaestner.compute(Cell("figures", dataset, method))
        for method in kaestner.MATRICES
    }
    found[Cell("table-1", "pima", "GLVQ", kaestner.ONE_EACH)] = {"accuracy": [80.0], "confusion": [[4, 1], [0, 5]]}
    drawn = kaestner.figures(found, tmp_path)
    assert [path.name for path in drawn] == [
        "kaestner-coffee-spectra.png",
        "kaestner-coffee-matrices.png",
        "kaestner-coffee-projections.png",
        "kaestner-pima-confusions.png",
    ]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in drawn)
