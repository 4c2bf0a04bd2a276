"""Files as people have them: decimal commas, encodings, spreadsheets, dates, notes."""

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("typer")
pytest.importorskip("jinja2")

from lvq.persistence import load  # noqa: E402


def clinic(n=80, seed=0):
    rng = np.random.default_rng(seed)
    ill = np.arange(n) % 2
    return pd.DataFrame(
        {
            "Größe": (170 + 8 * rng.normal(size=n)).round(1),
            "crp": (1 + 3 * ill + rng.random(n)).round(2),
            "Straße": rng.choice(["Süd", "Nord"], n),
            "Befund": np.where(ill == 1, "krank", "gesund"),
        }
    )


def fit(lvq, path, out, *options):
    return lvq("fit", path, "--target", "Befund", "--model", "glvq", "--folds", 0, "--out", out, *options)


def assert_same_model(lvq, path, tmp_path, *options):
    plain = tmp_path / "plain.csv"
    clinic().to_csv(plain, index=False)
    for file, out, given in ((plain, "one", ()), (path, "two", options)):
        completed = fit(lvq, file, tmp_path / out, *given)
        assert completed.code == 0, completed.err
    one, two = (load(tmp_path / out / "model.lvq") for out in ("one", "two"))
    assert list(two.feature_names_in_) == ["Größe", "crp", "Straße"]
    np.testing.assert_allclose(one.estimator_[-1].prototypes_, two.estimator_[-1].prototypes_)
    return completed


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_encodings_are_found(lvq, tmp_path, encoding):
    path = tmp_path / "table.csv"
    clinic().to_csv(path, index=False, encoding=encoding)
    completed = assert_same_model(lvq, path, tmp_path)
    assert ("was read as Latin-1" in completed.err) == (encoding == "latin-1")
    done = lvq("predict", tmp_path / "two", path, "--out", tmp_path / "p.csv")
    assert done.code == 0, done.err


def test_an_encoding_is_named(lvq, tmp_path):
    path = tmp_path / "table.csv"
    clinic().to_csv(path, index=False, encoding="mac_roman")
    completed = assert_same_model(lvq, path, tmp_path, "--encoding", "mac_roman")
    assert "Latin-1" not in completed.err
    completed = fit(lvq, path, tmp_path / "no", "--encoding", "klingon")
    assert "encoding (--encoding) must be a name such as utf-8" in completed.err


def test_decimal_commas(lvq, tmp_path):
    path = tmp_path / "table.csv"
    clinic().to_csv(path, index=False, sep=";", decimal=",")
    assert_same_model(lvq, path, tmp_path)
    assert lvq("predict", tmp_path / "two", path, "--out", tmp_path / "p.csv").code == 0
    assert lvq("predict", tmp_path / "two", tmp_path / "plain.csv", "--out", tmp_path / "q.csv").code == 0
    assert (tmp_path / "p.csv").read_text() == (tmp_path / "q.csv").read_text()


def test_spreadsheets(lvq, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    path = tmp_path / "table.xlsx"
    book = openpyxl.Workbook()
    sheet, table = book.active, clinic()
    sheet.append(list(table))
    for row in table.itertuples(index=False):
        sheet.append([value.item() if hasattr(value, "item") else value for value in row])
    book.create_sheet("Legende").append(["a", "b"])
    book.save(path)
    completed = assert_same_model(lvq, path, tmp_path)
    assert "the sheet 'Sheet' was read, not 'Legende'" in completed.err
    other = lvq("fit", path, "--target", "a", "--out", tmp_path / "three")
    assert "has no column 'a'" in other.err
    assert "--sheet names another one" in other.err
    assert lvq("predict", tmp_path / "two", path, "--out", tmp_path / "p.csv").code == 0


def test_spreadsheets_without_openpyxl(lvq, tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "openpyxl", None)
    path = tmp_path / "table.xlsx"
    path.write_bytes(b"PK\x03\x04")
    completed = fit(lvq, path, tmp_path / "run")
    assert completed.code == 1
    assert 'pip install "lvq[excel]"' in completed.err


def test_all_problems_are_reported_at_once(lvq, tmp_path):
    table = clinic().assign(
        born=["1980-03-01", "1991-12-24"] * 40,
        name=[f"Frau {chr(65 + k % 26)}{k // 2}" for k in range(80)],
        cost=["1,250", "2,500"] * 40,
        huge=1e200,
    )
    table.loc[3, "huge"] = 1.0
    path = tmp_path / "table.csv"
    table.to_csv(path, index=False)
    completed = fit(lvq, path, tmp_path / "run")
    assert completed.code == 1
    for text in (
        "'born' of",
        "holds dates, such as '1980-03-01'",
        "--date 'born'",
        "'name' of",
        "'cost' of",
        "decimal commas or separators of thousands",
        "'huge' of",
    ):
        assert text in completed.err, text
    assert len(completed.err.splitlines()) == 1
    used = fit(
        lvq, path, tmp_path / "run", "--date", "born", "--drop", "name", "--drop", "cost",
        "--drop", "huge",
    )  # fmt: skip
    assert used.code == 0, used.err


def test_limits_of_detection_beside_decimal_commas(lvq, tmp_path):
    """As many as they are, the message names the option; with it half of the limit is used, for predictions too."""
    path, table = tmp_path / "table.csv", clinic()
    table["crp"] = [f"{value:.2f}".replace(".", ",") if value > 3 else "<3,0" for value in table["crp"]]
    table.to_csv(path, index=False, sep=";", decimal=",")
    refused = fit(lvq, path, tmp_path / "run")
    assert "are below a detection limit: '<3,0' in row" in refused.err
    assert "--detection-limit 'crp'" in refused.err
    for out, limited in (("one", path), ("two", tmp_path / "plain.csv")):
        if out == "two":
            table["crp"] = [float(text.replace(",", ".")) if text[0] != "<" else 1.5 for text in table["crp"]]
            table.to_csv(limited, index=False)
        completed = fit(lvq, limited, tmp_path / out, "--detection-limit", "crp")
        assert completed.code == 0, completed.err
        assert lvq("predict", tmp_path / "one", limited, "--out", tmp_path / f"{out}.csv").code == 0
    assert (tmp_path / "one.csv").read_text().replace("<3,0", "1.5") == (tmp_path / "two.csv").read_text()
