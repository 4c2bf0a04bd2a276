"""Realised coverage of later rows and of new groups, beside the requested one, where nothing drifts.

`python -m experiments.design_coverage [--runs 50] [--sets NAME ...] [--designs NAME ...] [--out FILE]` needs
`LVQ_DATA`.

In each run the rows of a set are put into a random order: the first three quarters are training rows, and the others
are new. In the design "time" the order is the time, in "group" rows belong to random groups of about three. So nothing
drifts and groups are not alike, and about the requested fraction of the new rows must be accepted. Thresholds are those
of `lvq fit --time` and `lvq fit --group` without a guarantee; `coverage.py` defines what is within binomial error.
"""

import argparse
import json
import os
import pathlib
import warnings

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.data import pool_rows
from experiments.coverage import judged
from lvq import LVQClassifier
from lvq.workflow.design import Design
from lvq.workflow.pipelines import make_reject_classifier
from lvq.workflow.training import fit_rejecting

SETS = ("heart_statlog", "diabetes", "wdbc")
DESIGNS = ("time", "group")
COVERAGE = 0.9
RESULT = pathlib.Path(__file__).parent / "results" / "design_coverage.json"


def accepted(name: str, kind: str, seed: int) -> tuple[int, int, int]:
    """Calibration rows, new rows, and accepted new rows."""
    X, y = pool_rows(name)
    rng = np.random.default_rng(seed)
    order, n_train = rng.permutation(len(y)), round(0.75 * len(y))
    table, labels = pd.DataFrame(X[order]).rename(columns=str), y[order].astype(str)
    times = np.arange(n_train, dtype=float)
    design = Design(times=times) if kind == "time" else Design(groups=rng.integers(0, n_train // 3, n_train))
    model = make_pipeline(StandardScaler(), LVQClassifier(random_state=0))
    reject = make_reject_classifier(model, coverage=COVERAGE, n_samples=n_train, seed=seed)
    fit_rejecting(reject, table.iloc[:n_train], labels[:n_train], design, seed)
    return n_train, len(y) - n_train, int(reject.accept(table.iloc[n_train:]).sum())


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--sets", nargs="+", default=[*SETS])
    parser.add_argument("--designs", nargs="+", default=[*DESIGNS], choices=[*DESIGNS])
    parser.add_argument("--out", type=pathlib.Path, default=RESULT)
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # fits that do not converge
    results: dict[str, dict[str, dict[str, float]]] = {}
    for name in given.sets:
        for kind in given.designs:
            counts = np.array([accepted(name, kind, seed) for seed in range(given.runs)])
            results.setdefault(name, {})[kind] = judged(counts, COVERAGE)
            print(name, kind, results[name][kind], flush=True)
            given.out.write_text(json.dumps({"runs": given.runs, "sets": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
