import numpy as np
import pytest

from experiments import pool
from experiments.cells import Cell, Store

CELL = Cell("table-1", "iris", "GLVQ", "kmeans", run=3, fold=7)


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "deep" / "toy.cells.jsonl")
    yield store
    store.close()


def test_what_is_added_is_read_back_by_another(store):
    store.add(CELL, {"accuracy": np.float64(0.5), "curve": np.arange(3)}, seconds=1.5, commit="abc+")
    found = Store(store.path).read_all()
    assert found[CELL] == ({"accuracy": 0.5, "curve": [0, 1, 2]}, 1.5, "abc+")
    assert store.read() == {CELL: {"accuracy": 0.5, "curve": [0, 1, 2]}}


@pytest.mark.parametrize("torn", ['{"table": "tab', '{"table": "table-1", "result": {}}', "\x00\x00"])
def test_a_torn_last_line_is_dropped_and_written_over(store, torn):
    store.add(CELL, {"n": 1})
    store.close()
    with store.path.open("a") as file:
        file.write(torn)
    assert store.read() == {CELL: {"n": 1}}
    other = Cell("table-1", "wine", "GLVQ")
    store.add(other, {"n": 2})
    assert store.read() == {CELL: {"n": 1}, other: {"n": 2}}
    assert len(store.path.read_text().splitlines()) == 2


def test_the_pool_says_what_readable_forms_cost_over_the_fits_that_exist():
    """The tables of the others are over all their fits."""
    result = {"seconds": 1.0, "form": "matrix", "log_loss": 0.5}
    found = {cell: result | {"accuracy": 80.0} for cell in pool.cells(("GMLVQ", pool.DEFAULT), ("iris", "wine"))}
    additive = pool.cells((f"{pool.DEFAULT}, additive",), ("iris", "wine"), divisions=1)
    found |= {cell: result | {"accuracy": 78.0 if cell.dataset == "iris" else 81.0} for cell in additive}
    text = pool.summary(found)
    assert "additive on every set: -0.5 points beside the choice (10 fits on 2 sets)" in text
    assert "20 fits of each model on 2 sets" in text
    assert "linear on every set" not in text
