"""The folder of a run: model.lvq, report.html and metrics.json; written, read, and exported."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lvq._files import check_folder, check_output, write_atomically, write_folder_atomically

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from lvq.reports import Report
    from lvq.typing import JSONValue

MODEL, REPORT, METRICS = "model.lvq", "report.html", "metrics.json"
FILES = (MODEL, REPORT, METRICS)


def write_run(
    model: BaseEstimator | None,
    report: Report,
    folder: str | Path,
    names: Sequence[str] = FILES,
    *,
    force: bool = False,
) -> Path:
    """Write model, page and metrics under the given names, all of them or none; without a model the last two."""
    from lvq.persistence import save

    check_folder(folder, names, force=force)
    *first, page, metrics = names
    with write_folder_atomically(folder, force=force) as temporary:
        if model is not None:
            save(model, temporary / first[0])
        text = json.dumps(report.to_json(), ensure_ascii=False, allow_nan=False)
        (temporary / metrics).write_text(text, encoding="utf-8")
        report.write(temporary / page)
    return Path(folder)


def model_file(path: str | Path) -> Path:
    """The file of a model, given by itself or by the folder of its run."""
    path = Path(path)
    return path / MODEL if path.is_dir() else path


def load_model(path: str | Path) -> BaseEstimator:
    """Load a model from its file, or from the folder of its run.

    Parameters
    ----------
    path : path
        A file, or a folder with model.lvq.

    Returns
    -------
    model : estimator
        Fitted.
    """
    from lvq.persistence import load

    file = model_file(path)
    if not file.exists():
        raise FileNotFoundError(f"The model {file} does not exist; `lvq fit` writes one.")
    return load(file)


def load_metrics(path: str | Path) -> dict[str, JSONValue] | None:
    """metrics.json of a run, given by its folder or its model file; None where there is none.

    Examples
    --------
    >>> load_metrics("no/such/run") is None
    True
    """
    file = model_file(path).parent / METRICS
    if not file.exists():
        return None
    try:
        metrics = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{file} cannot be read ({error}); restore it, or fit again.") from error
    if not isinstance(metrics, dict) or "context" not in metrics:
        raise ValueError(f"{file} was not written by this version of `lvq fit`; fit again.")
    return metrics


def export_run(source: str | Path, onnx: str | Path, *, force: bool = False) -> Path:
    """Write the model of a run as ONNX.

    Parameters
    ----------
    source : path
        The folder of a run, or a model file.
    onnx : path
        The file to write.
    force : bool, default=False
        Whether it may be replaced.

    Returns
    -------
    onnx : Path
    """
    from lvq.onnx import to_onnx

    onnx = check_output(onnx, force=force)
    model = load_model(source)
    with write_atomically(onnx) as file:
        file.write(to_onnx(model).SerializeToString())
    return onnx
