"""Fischer's experiment in small: fewer points and folds, the same code."""

from itertools import pairwise

import numpy as np
import pytest

from experiments import fischer
from experiments.cells import Cell, Store


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Two runs of both models on a small necklace, as they come back from the file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(fischer.NECKLACES, "necklace", 40)
        patch.setattr(fischer, "N_FOLDS", 4)
        patch.setattr(fischer, "N_LIMIT", 2000)
        store = Store(tmp_path_factory.mktemp("fischer") / "cells.jsonl")
        for table, runs in {"figure-3": 2, "limit": 1}.items():
            for run in range(runs):
                for method in fischer.models_for("necklace"):
                    cell = Cell(table, "necklace", method, run=run)
                    store.add(cell, fischer.compute(cell))
        store.close()
        return store.read()


def test_curves_of_every_fold_by_every_strategy(found):
    result = found[Cell("figure-3", "necklace", "GMLVQ", run=1)]
    assert set(result["curves"]) == {"local optimal", "local greedy", "global", "Bayes"}
    for curves in result["curves"].values():
        assert len(curves) == 4
        for coverage, accuracy in curves:
            assert coverage[0] == 1.0
            assert all(later < earlier for earlier, later in pairwise(coverage))
            assert 0 <= min(accuracy) <= max(accuracy) <= 1
    for strategy in fischer.STRATEGIES:  # they begin at the accuracy without rejection
        begins = [accuracy[0] for _, accuracy in result["curves"][strategy]]
        np.testing.assert_allclose(begins, result["accuracy"], atol=1e-5)


def test_rows(found):
    rows = fischer.rows(found)
    plain = next(row for row in rows if (row.method, row.setting) == ("GLVQ", "no rejection"))
    runs = [found[Cell("figure-3", "necklace", "GLVQ", run=run)]["accuracy"] for run in range(2)]
    assert plain.mean == pytest.approx(100 * np.mean(runs))
    assert (plain.n_runs, plain.paper_mean, plain.verdict) == (2, None, "")
    at = {row.method: row.mean for row in rows if (row.table, row.setting) == ("figure-3", "coverage 0.98")}
    assert set(at) >= {"GLVQ local optimal", "GLVQ global", "GMLVQ local optimal", "GMLVQ log det global", "Bayes"}
    assert at["Bayes"] > at["GLVQ global"]
    assert {row.table for row in rows} == {"figure-3", "limit of endless data"}


def test_rotation_keeps_all_distances():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 40)).astype(np.float32)
    turned = fischer._rotated(X)
    assert turned.shape == (6, 6)

    def gaps(points):
        return np.linalg.norm(points[:, None] - points[None], axis=2)

    np.testing.assert_allclose(gaps(turned), gaps(X.astype(np.float64)), rtol=1e-6)


def test_figures(found, tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    drawn = fischer.figures(found, tmp_path)
    assert [path.name for path in drawn] == ["fischer-figure-1.png", "fischer-figure-3.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in drawn)
