"""The folder of a run: model.lvq, report.html and metrics.json; written, read, reported again and exported."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lvq._files import check_regular, check_writable, write_atomically, write_folder_atomically

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from lvq.typing import JSONValue

MODEL, REPORT, METRICS = "model.lvq", "report.html", "metrics.json"


def check_folder(folder: str | Path, names: Sequence[str] = (MODEL, REPORT, METRICS), *, force: bool = False) -> Path:
    """Check that files can be written to a folder, before anything is computed.

    Parameters
    ----------
    folder : path
        It need not exist.
    names : sequence of str
        Names of the files.
    force : bool, default=False
        Whether files of these names may be replaced.

    Returns
    -------
    folder : Path

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     check_folder(f"{place}/run").name
    'run'
    """
    folder = Path(folder)
    parent = next((parent for parent in (folder, *folder.absolute().parents) if parent.exists()), Path("/"))
    if not parent.is_dir():
        raise NotADirectoryError(f"{parent} is a file, so {folder} cannot be a folder; choose another path.")
    existing = [name for name in names if (folder / name).exists()]
    for name in existing:
        check_regular(folder / name)
    if existing and not force:
        raise FileExistsError(
            f"{folder} already has {', '.join(existing)}; use --force (force=True) to replace it, or another folder."
        )
    check_writable(parent, folder)
    return folder


def write_run(model: BaseEstimator, summary: dict[str, JSONValue], out: str | Path) -> Path:
    """Write model, metrics and report: all of them, or none.

    Parameters
    ----------
    model : estimator
        Fitted.
    summary : dict
        Result of `lvq.report.summarize`.
    out : path
        The folder; created where it does not exist.

    Returns
    -------
    folder : Path
    """
    from lvq.persistence import save
    from lvq.report import write

    with write_folder_atomically(out) as temporary:
        save(model, temporary / MODEL)
        (temporary / METRICS).write_text(json.dumps(summary, ensure_ascii=False, allow_nan=False), encoding="utf-8")
        write(summary, temporary / REPORT)
    return Path(out)


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


def stored_marks(path: str | Path) -> dict[str, list[str]]:
    """The marks of missing values, by column, that were given at the fit; none without the run's metrics.json."""
    metrics = model_file(path).parent / METRICS
    if not metrics.exists():
        return {}
    try:
        summary = json.loads(metrics.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(
            f"{metrics} cannot be read ({error}), though it may name values that are missing; restore it, or remove it "
            "if no --missing-mark was given at the fit."
        ) from error
    return summary.get("missing_marks", {}) if isinstance(summary, dict) else {}


def report_run(folder: str | Path) -> Path:
    """Write report.html of a run again, from its metrics.json.

    Parameters
    ----------
    folder : path
        The folder of a run.

    Returns
    -------
    report : Path

    Examples
    --------
    >>> report_run("no/such/run")
    Traceback (most recent call last):
    FileNotFoundError: The file no/such/run/metrics.json does not exist; `lvq fit` writes one.
    """
    from lvq.report import write

    metrics, report = Path(folder) / METRICS, Path(folder) / REPORT
    if not metrics.exists():
        raise FileNotFoundError(f"The file {metrics} does not exist; `lvq fit` writes one.")
    try:
        write(json.loads(metrics.read_text(encoding="utf-8")), report)
    except (OSError, ImportError):
        raise
    except Exception as error:  # any content that the report cannot use
        raise ValueError(f"{metrics} was not written by this version of `lvq fit` ({error}); fit again.") from error
    return report


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
    onnx = Path(onnx)
    check_regular(onnx)
    check_folder(onnx.parent, [onnx.name], force=force)
    from lvq.workflow.missing_values import is_ignoring

    model = load_model(source)
    if onnx.exists() and onnx.samefile(model_file(source)):
        raise FileExistsError(f"{onnx} is the model itself; choose another name.")
    try:
        from lvq.onnx import to_onnx
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f'ONNX needs {error.name}, which is not installed: pip install "lvq[onnx]".', name=error.name
        ) from error
    if is_ignoring(model):
        raise ValueError(
            f"The model of {source} ignores missing values, which ONNX does not support; fit it again with --missing "
            "impute (missing='impute'), which fills them."
        )
    with write_atomically(onnx) as file:
        file.write(to_onnx(model).SerializeToString())
    return onnx
