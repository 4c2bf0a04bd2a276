"""The table beyond the papers: same folds for all rows, what is kept, and the summary."""

import numpy as np
import pytest

from experiments import beyond
from experiments.cells import Cell

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def found():
    cells = [Cell("beyond", "iris", name) for name in (beyond.RIVAL, "GMLVQ", "k-NN, k=5", "LDA")]
    return {cell: beyond.compute(cell) for cell in cells}


def test_a_cell_has_a_value_for_each_fold(found):
    for result in found.values():
        assert {len(values) for values in result.values()} == {beyond.FOLDS}
        assert all(80 < value <= 100 for value in result["accuracy"])


def test_what_is_kept(found):
    kept = {cell.method: np.mean(result["kept"]) for cell, result in found.items()}
    assert kept["GMLVQ"] == 3
    assert kept["k-NN, k=5"] == 120
    assert 3 < kept[beyond.RIVAL] < 120
    assert kept["LDA"] == -1


def test_every_model_of_the_library_has_a_row():
    import lvq

    named = set(beyond.methods())
    parts = {name: getattr(lvq, name) for name in lvq.__all__}
    classes = {name for name, part in parts.items() if hasattr(part, "fit") and hasattr(part, "predict")}
    classes -= {"RejectClassifier", "CostClassifier"}
    assert {name for name in classes if not any(name in method for method in named)} == set()
