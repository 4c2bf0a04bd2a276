"""Tables on disk: every format gives the same columns, whole or in parts; damaged files raise clear errors."""

import errno
import gzip
import subprocess
import sys

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

import pyarrow.parquet as pq  # noqa: E402

from lvq.tables.header import Reading, TableError  # noqa: E402
from lvq.tables.read import open_table  # noqa: E402
from lvq.tables.values import Meaning, as_days, as_numbers, as_text, holds_dates, kind_of, marks_by_column  # noqa: E402
from lvq.tables.write import escape_formula, write_table  # noqa: E402


def read_table(path, codes=(), marks=()):
    return open_table(path).frame(Meaning(codes, marks=dict(marks)))


def read_parts(path, columns=None, codes=(), marks=()):
    table = open_table(path)
    return table.parts(columns or table.names, Meaning(codes, marks=dict(marks)))


CSV = """\
size,colour,ripe,weight
1.5,red,true,10
?,green,false,12
-2e3,"red, dark",TRUE,
"""


def as_arrow():
    return pa.table(
        {
            "size": pa.array([1.5, None, -2e3]),
            "colour": pa.array(["red", "green", "red, dark"]).dictionary_encode(),
            "ripe": pa.array([True, False, True]),
            "weight": pa.array([10, 12, None], pa.int32()),
        }
    )


def rows_of_noise():
    """A CSV file of more than the first megabyte, in which the header is looked for."""
    values = np.random.default_rng(0).normal(size=(60_000, 2)).tolist()
    return b"a,b\n" + b"".join(f"{a},{b}\n".encode() for a, b in values)


def write(folder, suffix):
    path = folder / f"fruit{suffix}"
    if suffix == ".xlsx":
        pytest.importorskip("openpyxl")
        as_arrow().to_pandas().to_excel(path, index=False)
        return path
    if suffix == ".parquet":
        pq.write_table(as_arrow(), path)
    else:
        text = CSV
        text = text.replace(",", "\t").replace("red\t dark", "red, dark") if ".tsv" in suffix else text
        data = text.encode()
        path.write_bytes(gzip.compress(data) if suffix.endswith(".gz") else data)
    return path


SUFFIXES = [".csv", ".csv.gz", ".tsv", ".parquet"]
EXPECTED = {
    "size": [1.5, None, -2000.0],
    "colour": ["red", "green", "red, dark"],
    "ripe": ["True", "False", "True"],
    "weight": [10.0, 12.0, None],
}


def check_fruit(table):
    assert {name: kind_of(table[name]) for name in table} == {
        "size": "number", "colour": "text", "ripe": "text", "weight": "number",
    }  # fmt: skip
    for name, values in EXPECTED.items():
        found = as_text(table[name]).tolist() if kind_of(table[name]) == "text" else table[name].tolist()
        assert [None if pd.isna(value) else value for value in found] == values


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".xlsx"])
def test_every_format_gives_the_same_table_whole_and_in_parts(tmp_path, suffix):
    path = write(tmp_path, suffix)
    assert open_table(path).names == list(EXPECTED)
    check_fruit(read_table(path))
    parts = list(read_parts(path, ["weight", "ripe"]))
    assert all(list(part) == ["weight", "ripe"] for part in parts)
    weight = np.concatenate([as_numbers(part["weight"]) for part in parts])
    np.testing.assert_array_equal(weight, [10.0, 12.0, np.nan])
    assert [text for part in parts for text in as_text(part["ripe"])] == EXPECTED["ripe"]
    assert [open_table(path).row_number(place) for place in range(3)] == [2, 3, 4]


@pytest.mark.parametrize("types", [None, object, "pyarrow", "category"])
def test_a_data_frame_is_the_same_table(types):
    frame = as_arrow().to_pandas()
    if types == "pyarrow":
        frame = frame.convert_dtypes(dtype_backend="pyarrow")
    elif types == "category":
        frame = frame.astype({"colour": "category", "ripe": "category"})
    elif types is not None:
        frame = frame.astype(types)
    frame.index = ["a", "b", "c"]
    table = open_table(frame)
    check_fruit(table.frame())
    assert [table.row_number(place) for place in range(3)] == ["a", "b", "c"]


def test_columns_of_several_kinds_are_texts():
    table = open_table(
        pd.DataFrame(
            {
                "a": [1.5, "n.d.", 2, None],
                "code": pd.Categorical([2, 1, 2, 1]),
                "s": pd.arrays.SparseArray([0.0, 1.5, 0, 0]),
            }
        )
    )
    assert as_text(table.frame()["a"]).tolist() == ["1.5", "n.d.", "2", None]
    assert as_text(table.frame()["code"]).tolist() == ["2", "1", "2", "1"]
    assert table.frame()["s"].tolist() == [0.0, 1.5, 0.0, 0.0]
    np.testing.assert_array_equal(table.frame(Meaning(marks={"a": ["n.d.", "2"]}))["a"], [1.5, np.nan, np.nan, np.nan])


def test_delimiters_quotes_and_line_breaks(tmp_path):
    path = tmp_path / "table.csv"
    for delimiter in (";", "\t", "|"):
        path.write_text(f'a{delimiter}"b, c"\n1{delimiter}2\n', encoding="utf-8")
        assert read_table(path).to_dict("list") == {"a": [1.0], "b, c": [2.0]}
    path.write_text('"a", "b, c"\n1, "two, three"\n', encoding="utf-8")  # quotes after a blank
    assert read_table(path).to_dict("list") == {"a": [1.0], "b, c": ["two, three"]}
    path.write_bytes('\ufeffgröße,"say ""x"""\r\n1.5,"two\nlines"\r\n2.5,one\r\n'.encode())
    assert read_table(path).to_dict("list") == {"größe": [1.5, 2.5], 'say "x"': ["two\nlines", "one"]}
    path.write_bytes(b'\n \n\r\n,a,"two\nlines"\n7,1,2\n\n7,3,4\n')  # blank lines, and a column without a name
    assert open_table(path).names == ["a", "two\nlines"]
    assert open_table(path).notes == ("Left out column 1: it has no name (a row index?).",)
    assert read_table(path).to_dict("list") == {"a": [1.0, 3.0], "two\nlines": [2.0, 4.0]}


def test_a_file_of_many_parts_is_one_table(tmp_path, monkeypatch):
    monkeypatch.setattr("lvq.tables.read.PART_ROWS", 7)
    frame = pd.DataFrame({"number": np.arange(100.0), "text": [f"text {k}" for k in range(100)]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    for path in (tmp_path / "t.csv", tmp_path / "t.parquet"):
        assert len(list(read_parts(path))) > 2
        assert read_table(path)["text"].tolist() == frame["text"].tolist()
        assert np.concatenate([as_numbers(part["number"]) for part in read_parts(path)]).tolist() == list(range(100))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", b"", "is empty"),
        ("t.csv", b"\n \n", "is empty"),
        ("t.csv", b"a,b\n", "no rows"),
        ("t.csv", b"a,b\n1,2\n3\n", "1 value in row 3, but 2 columns"),
        ("t.csv", b"a,b\n1,2\n3,4,5\n", "3 values in row 3, but 2 columns"),
        ("t.csv", b"a,b\n" + b"12345,1234567\n" * 200_000 + b"1\n" * 9, "1 value in row 200002, but 2 columns"),
        ("t.csv", b"a,a,b\n1,2,3\n", "more than one column named 'a'"),
        ("t.csv", b",\n1,2\n", "no column with a name"),
        ("t.csv", b"a,b\n" + b"1,2\n" * 300_000 + b"1,\xff\n", "not in UTF-8 throughout; name its encoding"),
        ("t.csv", b"a\x00b,\x01\x02\n\x00\x00", "null bytes"),
        ("t.csv", b"PAR1\0...", "if it is a spreadsheet or a Parquet file"),
        ("t.csv.gz", gzip.compress(b"a,b\n1,2\n", mtime=0)[:-8] + bytes(8), r"as CSV \(CRC check failed"),
        ("t.csv.gz", gzip.compress(rows_of_noise(), mtime=0)[:-9], r"cannot be read as CSV \("),
        ("t.parquet", b"PAR1 and then nonsense", r"cannot be read as Parquet \("),
        ("t.parquet", b"", "is empty"),
        ("t.doc", b"PK", "unknown format"),
        ("t.csv", None, "does not exist"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_read_raises_a_clear_error(tmp_path, name, content, message):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    for reader in (read_table, lambda path: list(read_parts(path))):
        with pytest.raises(TableError, match=message) as error:
            reader(path)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".xlsx"])
def test_a_damaged_file_is_read_or_refused(tmp_path, suffix):
    """Whatever its bytes: no other error, and no crash inside Arrow."""
    rng = np.random.default_rng(0)
    path = write(tmp_path, suffix)
    data = path.read_bytes()
    refused = []
    for _ in range(40):
        damaged = bytearray(data[: rng.integers(len(data)) if rng.random() < 0.2 else len(data)])
        for place in rng.integers(len(damaged) + 1, size=rng.choice([1, 2, 8])):
            others = [b"\0", b"\n", b'"', b",", b"\xff", rng.bytes(1), rng.bytes(3)]
            damaged[place : place + 1] = others[rng.integers(len(others))]
        path.write_bytes(damaged)
        for reader in (read_table, lambda path: list(read_parts(path))):
            try:
                reader(path)
            except TableError as error:
                refused.append(str(error))
    assert len(refused) > 10
    assert not any("\n" in message for message in refused)


def test_dates_and_lists_are_neither_numbers_nor_texts(tmp_path):
    path, days = tmp_path / "t.parquet", pd.to_datetime(["2020-01-01", "2021-01-01"])
    columns = {
        "when": days,
        "day": pa.array(days.date),
        "values": [[1.0], [2.0, 3.0]],
        "raw": [b"a", b"b"],
        "a": [1, 2],
    }
    pq.write_table(pa.table(columns), path)
    table = read_table(path)
    assert [kind_of(table[name]) for name in table] == ["other"] * 4 + ["number"]
    assert as_days(table["when"]).tolist() == as_days(table["day"]).tolist() == [18262.0, 18628.0]
    with pytest.raises(TableError, match=r"'when' .* must hold numbers.* values of type datetime64"):
        as_numbers(table["when"])
    with pytest.raises(TableError, match=r"'values' .* must hold numbers.* values of type list"):
        as_numbers(table["values"])


def test_codes_that_numbers_would_change_are_texts(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        "zip,id,level,size\n01067,9007199254740993,1.0,01\n04109,9007199254740992,2.0,02\n", encoding="utf-8"
    )
    table = read_table(path, codes={"zip", "id", "level"})
    assert as_text(table["zip"]).tolist() == ["01067", "04109"]
    assert as_text(table["id"]).tolist() == ["9007199254740993", "9007199254740992"]
    assert as_text(table["level"]).tolist() == ["1", "2"]
    assert table["size"].tolist() == [1.0, 2.0]  # not named a code


def test_exact_integers_stay_integers(tmp_path):
    path = tmp_path / "t.parquet"
    large = pa.table({"id": pa.array([2**53 + 1, None], pa.int64()), "u": pa.array([2**64 - 1, 1], pa.uint64())})
    pq.write_table(large, path)
    for table in (read_table(path, codes={"id", "u"}), next(iter(read_parts(path, codes={"id", "u"})))):
        assert as_text(table["id"]).tolist() == [str(2**53 + 1), None]
        assert as_text(table["u"]).tolist() == [str(2**64 - 1), "1"]
        np.testing.assert_array_equal(as_numbers(table["id"]), [2.0**53, np.nan])


def test_a_parquet_file_of_one_group_of_rows_is_read_in_parts(tmp_path):
    """Arrow alone would read the group, which is the whole table, before its first row."""
    path = tmp_path / "t.parquet"
    rng = np.random.default_rng(0)
    whole = pa.table({name: rng.normal(size=2_000_000) for name in "abcd"})
    pq.write_table(whole, path, row_group_size=len(whole))
    size = whole.nbytes
    del whole
    before, most, rows = pa.total_allocated_bytes(), 0, 0
    for part in read_parts(path):
        most = max(most, pa.total_allocated_bytes() - before)
        rows += len(part)
    assert rows == 2_000_000
    assert most < size / 3


# -- writing -----------------------------------------------------------------------------------------------------------


def parts():
    yield pd.DataFrame({"label": np.array([None, "b"], object), "n": pd.array([None, 2], "Int64"), "ok": [True, False]})
    yield pd.DataFrame({"label": np.array(["ü,x", "b"], object), "n": pd.array([3, 4], "Int64"), "ok": [True, True]})


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet", ".xlsx"])
def test_written_parts_are_read_back(tmp_path, suffix):
    path = tmp_path / f"predictions{suffix}"
    write_table(path, parts())
    table = read_table(path)
    assert as_text(table["label"]).tolist() == [None, "b", "ü,x", "b"]
    assert table["n"].tolist()[1:] == [2.0, 3.0, 4.0]
    assert as_text(table["ok"]).tolist() == ["True", "False", "True", "True"]
    assert [place.name for place in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
@pytest.mark.parametrize(
    ("error", "message"),
    [(KeyboardInterrupt("stop"), "stop"), (OSError(errno.ENOSPC, "No space"), "nothing is written; free some space")],
)
def test_an_interrupted_table_leaves_nothing(tmp_path, suffix, error, message):
    path = tmp_path / f"predictions{suffix}"
    path.write_text("before", encoding="utf-8")

    def stopping():
        yield from parts()
        raise error

    with pytest.raises(type(error), match=message):
        write_table(path, stopping())
    assert path.read_text(encoding="utf-8") == "before"
    assert [place.name for place in tmp_path.iterdir()] == [path.name]


FORMULAS = ["=1+1", "+A1", "-A1", "@SUM(A1)", "\t=1", "=\n1"]
PLAIN = ["-1.5", "+2e3", "-", "+", "a=b", "", " =1", None]


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_texts_that_a_spreadsheet_would_run_are_escaped_in_csv(tmp_path, suffix):
    path = tmp_path / f"predictions{suffix}"
    texts = FORMULAS + PLAIN
    part = pd.DataFrame({"=name": np.array(texts, object), "number": -np.arange(len(texts)), "ok": True})
    before = part.copy()
    write_table(path, [part])
    pd.testing.assert_frame_equal(part, before)
    changed = suffix != ".parquet"
    table = pd.read_parquet(path) if suffix == ".parquet" else pd.read_csv(path, keep_default_na=False, dtype=object)
    assert list(table) == ["'=name" if changed else "=name", "number", "ok"]
    expected = [f"'{text}" if changed and text in FORMULAS else text for text in texts]
    assert table.iloc[:, 0].fillna("").tolist() == [text or "" for text in expected]
    assert table["number"].astype(int).tolist() == part["number"].tolist()
    assert escape_formula("\r=1") == "'\r=1"


def test_without_pandas_the_extra_is_named():
    code = "import sys; sys.modules['pyarrow'] = None; import lvq.workflow"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert 'pip install "lvq[cli]"' in result.stderr


# -- dates -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "first"),
    [
        (["2024-03-01", "2024-12-31"], 19783),
        (["2024/03/01", "2024/12/31"], 19783),
        (["1.3.2024", "31.12.2024"], 19783),
        (["01/03/2024", "31/12/2024"], 19783),
        (["03/01/2024", "12/31/2024"], 19783),
        (["1 March 2024", "31 Dec 2024"], 19783),
        (["2024-03-01 12:00", "2024-12-31 00:00:00"], 19783.5),
    ],
)
def test_dates_become_days(texts, first):
    column = pd.Series([*texts, None], dtype=object, name="day")
    assert holds_dates(column)
    days = as_days(column)
    assert days[0] == first
    assert days[1] == 20088
    assert np.isnan(days[2])


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["01/03/2024", "02/03/2024"], "in which day or month may come first"),
        (["01/13/2024", "13/01/2024"], "with the day first and with the month first"),
        (["2024-03-01", "2024-03-02", "soon"], "holds 'soon', which is not a date"),
    ],
)
def test_dates_that_cannot_be_read(texts, message):
    with pytest.raises(TableError, match=message):
        as_days(pd.Series(texts, dtype=object, name="day"))


# -- marks of missing values -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_marked_values_are_missing_whole_and_in_parts(tmp_path, suffix):
    path = tmp_path / f"t{suffix}"
    frame = pd.DataFrame(
        {"a": ["1.5", "n.d.", "9999", "2"], "b": [0.0, 1.0, 9999.0, 2.0], "c": ["x", "n.d.", "y", "x"]}
    )
    frame.to_csv(path, index=False) if suffix == ".csv" else frame.to_parquet(path)
    marks = marks_by_column(["n.d.", "9999", "b=0"], ["a", "b", "c"], "t")
    assert marks == {"a": ["n.d.", "9999"], "b": ["n.d.", "9999", "0"], "c": ["n.d.", "9999"]}
    whole = read_table(path, marks=marks)
    (part,) = read_parts(path, marks=marks)
    for table in (whole, part):
        np.testing.assert_array_equal(table["a"], [1.5, np.nan, np.nan, 2.0])
        np.testing.assert_array_equal(table["b"], [np.nan, 1.0, np.nan, 2.0])
        assert table["c"].tolist() == ["x", None, "y", "x"]


def test_marks_of_columns_with_an_equals_sign():
    assert marks_by_column(["a=b=0"], ["a=b", "a"], "t") == {"a=b": ["0"]}
    with pytest.raises(
        TableError, match=r"'glucos=0' \(--missing-mark\) names no feature of t.csv; write COLUMN=VALUE"
    ):
        marks_by_column(["glucos=0"], ["glucose"], "t.csv")
    with pytest.raises(TableError, match=r"'a=' \(--missing-mark\) is empty"):
        marks_by_column(["a="], ["a"], "t.csv")


# -- row numbers -------------------------------------------------------------------------------------------------------


def test_blank_lines_count_in_the_numbers_of_rows(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('\na,b\n1,2\n\n\n3,"4\n\n5"\n\n6,7\n', encoding="utf-8")
    table = open_table(path)
    assert table.frame()["a"].tolist() == [1.0, 3.0, 6.0]
    assert [table.row_number(place) for place in range(3)] == [3, 6, 8]


@pytest.mark.parametrize(
    ("text", "header_row", "names", "first_row"),
    [
        ("Report 2024\n\na;b\n1;2\n", 3, ["a", "b"], 4),
        ("Report 2024\n\na;b\n1;2\n", 2, ["a", "b"], 4),
        ("1;2\n\n3;4\n", 0, ["column 1", "column 2"], 1),
        ("\n1;2\n\n3;4\n", 0, ["column 1", "column 2"], 2),
    ],
)
def test_the_row_of_names_is_given(tmp_path, text, header_row, names, first_row):
    (tmp_path / "t.csv").write_text(text)
    table = open_table(tmp_path / "t.csv", Reading(header_row=header_row))
    assert (table.names, table.row_number(0)) == (names, first_row)
    assert table.frame().to_numpy()[0].tolist() == [1.0, 2.0]
    if header_row == 0:
        assert table.row_number(1) == first_row + 2


def test_the_sheet_and_its_row_of_names_are_given(tmp_path):
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter(tmp_path / "t.xlsx") as book:
        pd.DataFrame({"a": [1.0]}).to_excel(book, sheet_name="April", index=False)
        pd.DataFrame({"b": [2.0, 3.0]}).to_excel(book, sheet_name="May", index=False, startrow=3)
        book.sheets["May"]["A1"] = "Ward 7"
    table = open_table(tmp_path / "t.xlsx", Reading(sheet="May", header_row=4))
    assert (table.names, table.row_number(0), table.notes) == (["b"], 5, ())
    assert table.frame()["b"].tolist() == [2.0, 3.0]
    assert open_table(tmp_path / "t.xlsx", Reading(sheet="May")).names == ["Ward 7"]
    with pytest.raises(TableError, match="no sheet 'June'; its sheets are 'April', 'May'"):
        open_table(tmp_path / "t.xlsx", Reading(sheet="June"))
