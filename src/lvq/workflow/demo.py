"""The demonstration: fit and predict on a table of breast tumours, which is part of scikit-learn."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from lvq._files import check_folder, write_folder_atomically
from lvq.workflow.columns import TableOptions
from lvq.workflow.comparing import Progress, quiet
from lvq.workflow.fitting import Run, fit
from lvq.workflow.predicting import PredictResult, predict
from lvq.workflow.runs import FILES

TABLE, PREDICTIONS = "wdbc.csv", "predictions.csv"


def run_demo(out: str | Path, *, force: bool = False, progress: Progress = quiet) -> tuple[Run, PredictResult]:
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
        As in `fit`.

    Returns
    -------
    run, predictions : Run, PredictResult
    """
    from sklearn.datasets import load_breast_cancer

    out = Path(out)
    check_folder(out, [*FILES, TABLE, PREDICTIONS], force=force)
    data = load_breast_cancer(as_frame=True)
    frame = data.data.assign(diagnosis=data.target_names[data.target])
    frame.insert(0, "tumour", [f"T{number:03}" for number in range(1, len(frame) + 1)])
    with write_folder_atomically(out, force=force) as folder:
        table = folder / TABLE
        frame.to_csv(table, index=False)
        options = TableOptions(drop=["tumour"])
        run = fit(table, "diagnosis", options=options, max_error=0.05, progress=progress)
        run.write(folder)
        predictions = predict(run.model, table, folder / PREDICTIONS, keep=["tumour"])
    return run, replace(predictions, path=out / PREDICTIONS)
