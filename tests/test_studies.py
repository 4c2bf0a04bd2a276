"""The studies of docs/studies show what a run gives: here up to the first fit, in `make docs` to the end."""

import os
import re
from pathlib import Path

import pytest

pytest.importorskip("pandas")
pytest.importorskip("typer")
from tools import studies

every_study = pytest.mark.parametrize("name", studies.NEEDS)

DOCUMENT = """# A study

The sum is 3, of 2 rows.

```pycon
>>> rows = ["a,b", "1,2"]
>>> print(len(rows), "rows")
{rows} rows
>>> from pathlib import Path
>>> size = Path("t.csv").write_text("\\n".join(rows))
```

```console
$ head -1 t.csv
a,b
$ lvq fit t.csv --target c \\
      --out run
{message}
```

```pycon
>>> 1 + 2
{total}
```
"""
MESSAGE = "Error: t.csv has no column 'c'; its columns are 'a', 'b'."


def written(folder, **changes):
    path = folder / "study.md"
    path.write_text(DOCUMENT.format(**{"rows": 2, "message": MESSAGE, "total": 3} | changes), encoding="utf-8")
    return path


def test_a_document_that_is_right(tmp_path):
    assert studies.problems(written(tmp_path)) == []
    assert Path.cwd() != tmp_path


def test_outputs_that_differ_are_named_and_rewritten(tmp_path):
    path = written(tmp_path, rows=7, message="Written", total=4)
    assert {"-7 rows", "+2 rows", "-Written", f"+{MESSAGE}", "-4", "+3"} <= set(studies.problems(path))
    assert studies.fresh(path) == written(tmp_path).read_text(encoding="utf-8")


def test_numbers_of_the_text_need_an_output():
    text = DOCUMENT.format(rows=2, message=MESSAGE, total=3)
    assert studies.unfounded_numbers(text) == []
    assert studies.unfounded_numbers(text.replace("The sum is 3", "The sum is 3.5, of `1.75`")) == ["3.5"]


# -- the studies -------------------------------------------------------------------------------------------------------


def test_every_study_is_known():
    assert {path.stem for path in studies.FOLDER.glob("*.md")} - {"index"} == set(studies.NEEDS)


@every_study
def test_texts_and_pictures(name):
    """Numbers of the text are those of outputs, no step failed by accident, and the pictures are there."""
    text = (studies.FOLDER / f"{name}.md").read_text(encoding="utf-8")
    assert studies.unfounded_numbers(text) == []
    assert "Traceback" not in text
    saved = {Path(line).stem for line in re.findall(r'savefig\(\s*"([\w-]+\.png)"', text)}
    assert saved == set(re.findall(r"\{study-picture\} ([\w-]+)", text))
    for picture in saved:
        assert (studies.PICTURES / f"{picture}.png").exists()
        assert (studies.PICTURES / f"{picture}-dark.png").exists()


@every_study
def test_the_tables_are_made_and_read(name, tmp_path):
    """Every step before the first that fits a model."""
    if files := studies.missing(name):
        pytest.skip(f"{', '.join(files)} not in the folder of LVQ_DATA ({os.environ.get('LVQ_DATA') or 'not set'})")
    path = studies.FOLDER / f"{name}.md"
    text = path.read_text(encoding="utf-8")
    first = text.index("\n## A first fit" if name == "spectra" else "\n## Design and fit")
    part = tmp_path / "part.md"
    part.write_text(text[:first], encoding="utf-8")
    for file in studies.FOLDER.glob("*.json"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    assert studies.fresh(part) == text[:first]


@pytest.mark.slow
@every_study
def test_whole_studies(name):
    pytest.importorskip("matplotlib")
    pytest.importorskip("skl2onnx")
    if files := studies.missing(name):
        pytest.skip(f"{', '.join(files)} not in the folder of LVQ_DATA")
    assert studies.problems(studies.FOLDER / f"{name}.md") == []
