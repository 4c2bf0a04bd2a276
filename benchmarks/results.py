"""Results on disk: a file for each case, written after every cell, so that a run that was killed can go on."""

import json
import pathlib
from collections.abc import Iterator
from typing import Any

from benchmarks.rounds import Row
from lvq._files import write_atomically

FOLDER = pathlib.Path(__file__).parent / "results"
DIGITS = 5


def name_of(cell: Row) -> str:
    """A cell in words: its values, in order."""
    return " ".join(f"{key}={value}" for key, value in cell.items())


class Store:
    """The results of a case. What the same commit has stored with the same settings is kept, unless `fresh`."""

    def __init__(self, folder: pathlib.Path, case: str, header: dict[str, Any], fresh: bool = False) -> None:
        self.path = folder / f"{case}.json"
        self.content: dict[str, Any] = {"case": case, **header, "complete": False, "seconds": 0.0, "rows": []}
        stored = read(folder, case)
        same = all(stored.get(key) == header[key] for key in ("commit", "settings", "machine")) if stored else False
        if same and not fresh:
            self.content |= {key: stored[key] for key in ("seconds", "rows")}

    @property
    def rows(self) -> list[Row]:
        """All rows so far."""
        return self.content["rows"]

    def has(self, cell: Row) -> bool:
        """Whether a cell is stored; one whose data were missing is not."""
        return any(row["cell"] == name_of(cell) and not row["status"].startswith("skipped") for row in self.rows)

    def add(self, cell: Row, rows: list[Row], seconds: float) -> None:
        """Store the rows of a cell, in the place of earlier ones."""
        kept = [row for row in self.rows if row["cell"] != name_of(cell)]
        self.rows[:] = kept + [{"cell": name_of(cell), **cell, **rounded(row)} for row in rows]
        self.content["seconds"] = round(self.content["seconds"] + seconds, 1)
        self.write()

    def finish(self) -> None:
        """All cells are stored."""
        self.content["complete"] = True
        self.write()

    def write(self) -> None:
        """Replace the file, whole or not at all; a row for each line."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        head = {key: value for key, value in self.content.items() if key != "rows"}
        lines = ",\n".join(json.dumps(row, allow_nan=False) for row in self.rows)
        text = json.dumps(head, indent=1)[:-2] + ',\n "rows": [\n' + lines + "\n]}\n"
        with write_atomically(self.path) as file:
            file.write(text.encode())


def read(folder: pathlib.Path, case: str) -> dict[str, Any]:
    """The content of a case's file; empty if there is none."""
    path = folder / f"{case}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def rounded(value: Any) -> Any:
    """Floats to five digits, which is more than they are worth; NaN becomes None."""
    if isinstance(value, dict):
        return {key: rounded(part) for key, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if value == value and abs(value) != float("inf") else None
    return value


def select(rows: list[Row], **wanted: Any) -> Iterator[Row]:
    """Rows with these values that were measured."""
    done = (row for row in rows if row["status"] == "ok")
    return (row for row in done if all(row.get(key) == value for key, value in wanted.items()))


def one(rows: list[Row], **wanted: Any) -> Row | None:
    """The first such row."""
    return next(select(rows, **wanted), None)
