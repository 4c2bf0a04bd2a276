"""LVQ1 and OLVQ1 give the codebooks of R's package class, step by step in the same order.

What R gave is recorded in `recorded/r_class.json`. Where R is installed it is run again, and compared with the record.
The samples of the record are of three overlapping classes, 20 of each, and the codebook starts at samples.
"""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from lvq import LVQ1, OLVQ1
from lvq.solvers.online import Online

HERE = Path(__file__).parent / "recorded"
RECORD = HERE / "r_class.json"
MODELS = {"lvq1": LVQ1, "olvq1": OLVQ1}
STEPS = 150
CASES = [(method, per_class, seed) for method in MODELS for per_class in (1, 3) for seed in (0, 1, 2)]


def by_r(folder, method, alpha, seed, X, y, W, labels):
    """The order of the samples and the codebook after training."""
    np.savetxt(folder / "samples.csv", np.column_stack([X, y]), delimiter=",", fmt="%.17g")
    np.savetxt(folder / "codebook.csv", np.column_stack([W, labels]), delimiter=",", fmt="%.17g")
    command = ["Rscript", str(HERE / "r_class.R"), str(folder), method, str(alpha), str(STEPS), str(seed)]
    subprocess.run(command, check=True, capture_output=True)
    return np.loadtxt(folder / "sequence.csv", dtype=int) - 1, np.loadtxt(folder / "result.csv", delimiter=",")


def alpha_of(method):
    return {"lvq1": 0.03, "olvq1": 0.3}[method]  # R's defaults


def recorded():
    return json.loads(RECORD.read_text())


def has_r():
    if not shutil.which("Rscript"):
        return False
    return subprocess.run(["Rscript", "-e", "library(class)"], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize(("method", "per_class", "seed"), CASES)
def test_recorded_codebooks(method, per_class, seed):
    case = recorded()[f"{method}, {per_class} per class, seed {seed}"]
    X, y, W, labels = (np.array(case[name]) for name in ("X", "y", "W", "labels"))
    order, expected = np.array(case["order"]), np.array(case["result"])
    solver = Online(learning_rate=alpha_of(method), shuffle=False)
    model = MODELS[method](init=(W, labels), solver=solver, max_iter=1).fit(X[order], y[order])
    np.testing.assert_allclose(model.prototypes_, expected, rtol=0, atol=1e-12)
    assert np.abs(expected - W).max() > 0.05  # the prototypes did move


@pytest.mark.parametrize(("method", "per_class", "seed"), CASES)
def test_r_still_gives_what_is_recorded(method, per_class, seed, tmp_path):
    if not has_r():
        pytest.skip("R with its package class is not installed")
    case = recorded()[f"{method}, {per_class} per class, seed {seed}"]
    data = [np.array(case[name]) for name in ("X", "y", "W", "labels")]
    order, result = by_r(tmp_path, method, alpha_of(method), seed, *data)
    np.testing.assert_array_equal(order, case["order"])
    np.testing.assert_allclose(result, case["result"], rtol=0, atol=1e-14)
