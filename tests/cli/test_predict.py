"""`lvq predict`: predictions of the model, columns matched by name, unusable rows rejected, tables streamed."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from lvq import LVQClassifier, explain
from lvq.persistence import load
from lvq.rejection.scores import Predictions

pd = pytest.importorskip("pandas")
pytest.importorskip("typer")

from lvq.preprocessing import TablePreprocessor  # noqa: E402
from lvq.workflow import predict  # noqa: E402

COLUMNS = ["label", "certainty", "accepted", "reason", "because", "winner"]


@pytest.fixture(scope="module")
def model(run):
    return load(run[0] / "model.lvq")


@pytest.fixture(scope="module")
def features(fruit):
    """The features of the fruit, as they were given: the model reads them itself."""
    return fruit[["length [cm]", "weight", "colour", "ripe"]]


def read(path):
    if path.suffix == ".xlsx":
        return pd.read_excel(path, keep_default_na=False)
    return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path, keep_default_na=False)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet", ".xlsx"])
def test_predictions_are_those_of_the_model(lvq, run, model, features, fruit_csv, tmp_path, suffix):
    out = tmp_path / f"predictions{suffix}"
    completed = lvq("predict", run[0] / "model.lvq", fruit_csv, "--out", out)
    assert completed.code == 0, completed.err
    predictions = read(out)
    assert list(predictions) == COLUMNS
    assert predictions["label"].tolist() == model.predict(features).tolist()
    assert predictions["accepted"].tolist() == model.accept(features).tolist()
    assert predictions["reason"].tolist() == model.reason(features).tolist()
    np.testing.assert_allclose(predictions["certainty"].astype(float), model.certainty(features), rtol=6e-6)
    assert predictions["winner"].tolist() == [f"P{index + 1}" for index in Predictions(model, features).winner]
    assert f"160 rows predicted, {model.accept(features).sum()} accepted" in completed.out
    assert [place.name for place in tmp_path.iterdir()] == [out.name]


def test_the_strongest_columns_are_those_of_the_explanation(model, features):
    """Their factors of the odds, or their shares of the contributions."""
    table = predict(model, features).frame
    for sample in (0, 5, 50):
        lines = explain(model, features.iloc[[sample]]).table()
        _, texts = table["because"][sample].split(": ")
        texts = texts.split("; ")
        first = lines.sort_values("contribution", ascending=False).iloc[0]
        assert texts[0].startswith(f"{first['feature']}=")
        assert texts[0].endswith(f"({100 * first['fraction']:.0f} %)")
        assert 1 <= len(texts) <= 3
    y = features["length [cm]"] > 8
    other = make_pipeline(TablePreprocessor(), LVQClassifier(random_state=0)).fit(features, y)
    best = explain(other, features.iloc[[5]]).table().sort_values("odds").iloc[-1]
    shown = predict(other, features).frame["because"][5].split("; ")[0]
    assert shown.startswith(f"odds against {best['rival_label']}: ")
    assert shown.endswith(f"(x{best['odds']:.3g})")


def test_long_numbers_are_shown_with_six_digits(model, features):
    table = features.assign(**{"length [cm]": 7.39999771118219})
    texts = "; ".join(predict(model, table).frame["because"])
    assert "length [cm]=7.4 (" in texts
    assert "7.399" not in texts


def changed(fruit, tmp_path, **values):
    """The first rows of the fruit, with other values in some places."""
    table = fruit.iloc[:4].copy().astype(object)
    for name, value in values.items():
        table.loc[1, name.replace("_", " ").replace("length", "length [cm]")] = value
    path = tmp_path / "changed.csv"
    table.to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    ("values", "reason", "label"),
    [
        ({"colour": "blue"}, "unknown category", True),
        ({"ripe": ""}, "missing value", True),
        ({"length": ""}, "missing value", False),
        ({"length": "", "colour": "blue"}, "missing value", False),
        ({"length": 1000.0}, "outlier", True),
        ({"length": 1e200}, "value too large", False),
        ({"length": "inf"}, "value too large", False),
    ],
)
def test_an_unusable_row_is_rejected(lvq, run, fruit, tmp_path, values, reason, label):
    out = tmp_path / "predictions.csv"
    completed = lvq("predict", run[0], changed(fruit, tmp_path, **values), "--out", out)
    assert completed.code == 0, completed.err
    row = pd.read_csv(out).iloc[1]
    assert (row["accepted"], row["reason"]) == (False, reason)
    assert isinstance(row["label"], str) == label
    assert np.isfinite(row["certainty"]) == label
    if reason != "outlier":  # the second row of values, as the file has it
        assert "1 row with a" in completed.err
        assert "(first in row 3): rejected." in completed.err


def refused(completed):
    assert completed.code == 1, completed
    assert completed.out == ""
    assert len(completed.err.splitlines()) == 1
    return completed.err


def test_missing_columns_are_named(lvq, run, fruit, tmp_path):
    table = tmp_path / "table.csv"
    fruit.rename(columns={"weight": "Weight", "ripe": "soft"}).to_csv(table, index=False)
    message = refused(lvq("predict", run[0], table, "--out", tmp_path / "predictions.csv"))
    assert "has no columns 'weight', 'ripe'; its columns are" in message
    assert "Did you mean 'Weight'?" in message
    assert not (tmp_path / "predictions.csv").exists()


def test_other_errors(lvq, run, fruit_csv, tmp_path):
    out = tmp_path / "predictions.csv"
    assert "no column 'x'; its columns are" in refused(lvq("predict", run[0], fruit_csv, "--keep", "x", "--out", out))
    assert "does not exist" in refused(lvq("predict", tmp_path / "no.lvq", fruit_csv, "--out", out))
    assert "no.csv" in refused(lvq("predict", run[0], tmp_path / "no.csv", "--out", out))
    assert "must end in" in refused(lvq("predict", run[0], fruit_csv, "--out", tmp_path / "predictions.xls"))
    strange = tmp_path / "strange.lvq"
    strange.write_bytes(b"\x80\x04 not a model")
    assert "strange.lvq" in refused(lvq("predict", strange, fruit_csv, "--out", out))
    out.write_text("mine", encoding="utf-8")
    assert "predictions.csv exists; use --force" in refused(lvq("predict", run[0], fruit_csv, "--out", out))
    assert lvq("predict", run[0], fruit_csv, "--out", out, "--force").code == 0
    assert "cannot be written" in refused(lvq("predict", run[0], fruit_csv, "--out", "/proc/predictions.csv"))


STREAMED = """
import resource, sys
import pandas as pd
from lvq import GLVQ
from lvq.workflow import predict

small, large = sys.argv[1:]
table = pd.read_csv(small, nrows=200)
model = GLVQ(random_state=0).fit(table, [0, 1] * 100)
for path in (small, small, large):
    found = predict(model, path, path + ".predictions.csv", force=True)
    print(found.rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no resource module")
def test_a_long_table_is_streamed(tmp_path):
    """Four times the rows need no more memory: only a part of the table is in memory."""
    rows = pd.DataFrame(np.random.default_rng(0).normal(size=(500, 20))).add_prefix("feature ")
    head, _, body = rows.to_csv(index=False).partition("\n")
    tables = [tmp_path / "small.csv", tmp_path / "large.csv"]
    for table, copies in zip(tables, (50, 200)):
        table.write_text(f"{head}\n{body * copies}", encoding="utf-8")
    size = tables[1].stat().st_size
    result = subprocess.run([sys.executable, "-c", STREAMED, *tables], capture_output=True, text=True, check=True)
    _, (n_small, before), (n_large, after) = (map(int, line.split()) for line in result.stdout.splitlines())
    assert (n_small, n_large) == (25_000, 100_000)
    unit = 1 if sys.platform == "darwin" else 1024
    assert (after - before) * unit < size / 3
