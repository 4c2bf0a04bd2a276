"""What else can be done with a run: its report again, its model as ONNX; and the whole job as a demonstration."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from lvq.tables.writing import umask
from lvq.workflow.fitting import FitResult, Progress, fit_table, quiet
from lvq.workflow.folders import METRICS, MODEL, REPORT, all_or_nothing, check_folder
from lvq.workflow.predicting import Predictions, load_model, model_file, predict_table


def report_run(folder: str | Path) -> Path:
    """Render report.html of a run anew, from its metrics.json.

    Parameters
    ----------
    folder : path
        Of a run.

    Returns
    -------
    report : Path

    Examples
    --------
    >>> report_run("no/such/run")
    Traceback (most recent call last):
    FileNotFoundError: There is no no/such/run/metrics.json; `lvq fit` writes one.
    """
    from lvq.report import write

    metrics = Path(folder) / METRICS
    if not metrics.exists():
        raise FileNotFoundError(f"There is no {metrics}; `lvq fit` writes one.")
    try:
        summary = json.loads(metrics.read_text(encoding="utf-8"))
        report = Path(folder) / REPORT
        write(summary, report)
    except (OSError, ImportError):
        raise
    except Exception as error:  # whatever the page stumbles over
        raise ValueError(f"{metrics} is not what this version of `lvq fit` writes ({error}); fit anew.") from error
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
    if onnx.is_dir():
        raise IsADirectoryError(f"{onnx} is a folder; name a file.")
    if not onnx.parent.is_dir():
        raise FileNotFoundError(f"{onnx} cannot be written: there is no folder {onnx.parent}; make it first.")
    check_folder(onnx.parent, [onnx.name], force=force)
    model = load_model(source)
    if onnx.exists() and onnx.samefile(model_file(source)):
        raise FileExistsError(f"{onnx} is the model itself; choose another name.")
    try:
        from lvq.onnx import to_onnx
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f'ONNX needs {error.name}, which is not installed: pip install "lvq[onnx]".', name=error.name
        ) from error
    content = to_onnx(model).SerializeToString()
    handle, temporary = tempfile.mkstemp(prefix=f".{onnx.name}-", suffix=".tmp", dir=onnx.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        os.chmod(temporary, 0o666 & ~umask())
        os.replace(temporary, onnx)
    finally:
        Path(temporary).unlink(missing_ok=True)
    return onnx


def experiments_root() -> Path | None:
    """The checkout that this package runs from, if its experiments are there."""
    root = Path(__file__).resolve().parents[3]
    return root if (root / "experiments" / "__main__.py").exists() else None


def reproduce(paper: str, arguments: tuple[str, ...] = ()) -> int:
    """Repeat the experiments of a paper, where the checkout has them.

    Parameters
    ----------
    paper : str
        The name of a paper.
    arguments : tuple of str, default=()
        What else ``python -m experiments`` is to be told.

    Returns
    -------
    code : int
        Its exit code.
    """
    root = experiments_root()
    if root is None:
        raise FileNotFoundError(
            "The papers' experiments are not part of the installed package; get a checkout of the project, install it "
            "from there with `pip install --editable .`, and run this again."
        )
    command = [sys.executable, "-m", "experiments", paper, *arguments]
    with subprocess.Popen(command, cwd=root) as process:
        try:
            code = process.wait()
        except KeyboardInterrupt:  # of a terminal, so they have heard of it too, and say what they keep
            code = process.wait()
        except BaseException:
            process.kill()
            raise
    return code if code >= 0 else 128 - code  # as a shell has it


@dataclass(frozen=True)
class Demonstration:
    """The table, the fit and the answers of `demonstrate`."""

    table: Path
    fit: FitResult
    predictions: Predictions


def demonstrate(out: str | Path, *, force: bool = False, progress: Progress = quiet) -> Demonstration:
    """The whole job on a real table: breast tumours, which ship with scikit-learn.

    Writes the table as wdbc.csv into the run's folder, learns from it with a guarantee of at most 5 % errors among
    accepted answers, and answers all its rows.

    Parameters
    ----------
    out : path
        The run's folder.
    force : bool, default=False
        Whether files in it may be replaced.
    progress : callable, optional
        Of `fit_table`.

    Returns
    -------
    demonstration : Demonstration
    """
    from sklearn.datasets import load_breast_cancer

    out = Path(out)
    check_folder(out, [MODEL, REPORT, METRICS, "wdbc.csv", "predictions.csv"], force=force)
    data = load_breast_cancer(as_frame=True)
    frame = data.data.assign(diagnosis=data.target_names[data.target])
    frame.insert(0, "tumour", [f"T{number:03}" for number in range(1, len(frame) + 1)])
    with all_or_nothing(out) as place:  # only a complete run is worth a folder
        table = place / "wdbc.csv"
        frame.to_csv(table, index=False)
        fit = fit_table(table, "diagnosis", out=place, drop=["tumour"], max_error=0.05, progress=progress)
        predictions = predict_table(fit.model, table, place / "predictions.csv", keep=["tumour"])
    predictions.path = out / "predictions.csv"
    return Demonstration(out / "wdbc.csv", replace(fit, folder=out), predictions)
