"""The demonstration: fit and predict on a table of breast tumours, which is part of scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from lvq._files import write_folder_atomically
from lvq.workflow.fit_result import FitResult, Progress, quiet
from lvq.workflow.fitting import fit_table
from lvq.workflow.predicting import PredictResult, predict_table
from lvq.workflow.runs import METRICS, MODEL, REPORT, check_folder

TABLE, PREDICTIONS = "wdbc.csv", "predictions.csv"


@dataclass(frozen=True)
class DemoResult:
    """The table, the fit and the predictions of `run_demo`."""

    table: Path
    fit: FitResult
    predictions: PredictResult


def run_demo(out: str | Path, *, force: bool = False, progress: Progress = quiet) -> DemoResult:
    """Fit and predict on a table of breast tumours.

    Writes the table as wdbc.csv into the folder of the run, fits a model with a guarantee of at most 5 % errors among
    accepted predictions, and predicts all rows.

    Parameters
    ----------
    out : path
        The folder of the run.
    force : bool, default=False
        Whether files in it may be replaced.
    progress : callable, optional
        As in `fit_table`.

    Returns
    -------
    result : DemoResult
    """
    from sklearn.datasets import load_breast_cancer

    out = Path(out)
    check_folder(out, [MODEL, REPORT, METRICS, TABLE, PREDICTIONS], force=force)
    data = load_breast_cancer(as_frame=True)
    frame = data.data.assign(diagnosis=data.target_names[data.target])
    frame.insert(0, "tumour", [f"T{number:03}" for number in range(1, len(frame) + 1)])
    with write_folder_atomically(out) as folder:
        table = folder / TABLE
        frame.to_csv(table, index=False)
        fit = fit_table(table, "diagnosis", out=folder, drop=["tumour"], max_error=0.05, progress=progress)
        predictions = predict_table(fit.model, table, folder / PREDICTIONS, keep=["tumour"])
    predictions.path = out / PREDICTIONS
    return DemoResult(out / TABLE, replace(fit, folder=out), predictions)
