"""Missing values: certainty falls with what is missing, and rows with too little known are rejected."""

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("typer")
pytest.importorskip("vl_convert")

from lvq.persistence import load  # noqa: E402
from lvq.workflow.model_columns import expected_columns  # noqa: E402

MEASURED = [f"bill {k}" for k in range(6)]


def penguins(n=200, seed=0, missing=0.08):
    rng = np.random.default_rng(seed)
    kind = np.arange(n) % 2
    table = pd.DataFrame(rng.normal(2.0 * kind[:, None], size=(n, 6)), columns=MEASURED)
    table = table.mask(rng.random(table.shape) < missing)
    return table.assign(island=rng.choice(["Biscoe", "Dream"], n), species=np.where(kind, "Adelie", "Gentoo"))


@pytest.fixture(scope="module")
def run(lvq, tmp_path_factory):
    folder = tmp_path_factory.mktemp("penguins")
    penguins().to_csv(folder / "table.csv", index=False)
    completed = lvq(
        "fit", folder / "table.csv", "--target", "species", "--model", "lvq", "--prototypes", 1, "--folds", 0, "--out",
        folder / "run",
    )  # fmt: skip
    assert completed.code == 0, completed.err
    return folder / "run"


def predicted(lvq, run, table, tmp_path):
    table.to_csv(tmp_path / "new.csv", index=False)
    completed = lvq("predict", run, tmp_path / "new.csv", "--out", tmp_path / "p.csv", "--force")
    assert completed.code == 0, completed.err
    return pd.read_csv(tmp_path / "p.csv", keep_default_na=False)


def test_rows_with_too_little_known_are_rejected(lvq, run, tmp_path):
    table = penguins(seed=1, missing=0)
    table.loc[:9, MEASURED] = np.nan
    found = predicted(lvq, run, table, tmp_path)
    assert set(found["reason"][:10]) == {"too little known"}
    assert not found["accepted"][:10].any()
    assert "too little known" not in set(found["reason"][10:])


def test_certainty_falls_with_what_is_missing(lvq, run, tmp_path):
    table = penguins(seed=2, missing=0)
    medians = []
    for count in range(6):
        holes = table.copy()
        holes[MEASURED[:count]] = np.nan
        medians.append(predicted(lvq, run, holes, tmp_path)["certainty"].astype(float).median())
    assert all(np.diff(medians) < 0.005)
    assert medians[5] < 0.5 * medians[0]


def test_what_is_usually_missing_is_no_loss(lvq, tmp_path):
    table = penguins(seed=3, missing=0)
    table.loc[np.arange(200) % 4 != 0, MEASURED[1:]] = np.nan
    table.to_csv(tmp_path / "table.csv", index=False)
    completed = lvq(
        "fit", tmp_path / "table.csv", "--target", "species", "--model", "glvq", "--folds", 0, "--out", tmp_path / "run"
    )
    assert completed.code == 0, completed.err
    rates = expected_columns(load(tmp_path / "run" / "model.lvq")).missing_rates
    assert list(rates) == MEASURED[1:]
    assert all(0.6 < rate < 0.9 for rate in rates.values())
    found = predicted(lvq, tmp_path / "run", table, tmp_path)
    assert "too little known" not in set(found["reason"])
