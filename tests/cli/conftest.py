"""Commands run in this process, and tables and a run to use them on."""

import contextlib
import io
from typing import NamedTuple

import numpy as np
import pytest


class Finished(NamedTuple):
    """Exit code, standard output and standard error."""

    code: int
    out: str
    err: str


def run_command(*arguments):
    from lvq.cli.app import app

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            app([str(argument) for argument in arguments], prog_name="lvq")
            code = 0
        except SystemExit as stopped:
            code = stopped.code or 0
    return Finished(code, out.getvalue(), err.getvalue())


@pytest.fixture(scope="session")
def lvq():
    """`lvq("fit", path, "--target", "class")` gives exit code and output."""
    pytest.importorskip("typer")
    pytest.importorskip("rich")
    return run_command


@pytest.fixture(scope="session")
def fruit():
    """Apples and pears: numbers of which some are missing, a text, a boolean, a name, an empty column."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    n = 160
    pear = rng.random(n) < 0.5
    weight = rng.normal(150 + 40 * pear, 20)
    weight[::13] = np.nan
    colour = np.where(rng.random(n) < 0.7, np.where(pear, "green", "red"), "yellow").astype(object)
    colour[5] = None
    return pd.DataFrame(
        {
            "name": [f"fruit {k}" for k in range(n)],
            "length [cm]": rng.normal(7 + 3 * pear, 1.0),
            "weight": weight,
            "colour": colour,
            "ripe": rng.random(n) < 0.5,
            "nothing": np.full(n, None),
            "Sorte": np.where(pear, "Birne", "Äpfel"),
        }
    )


@pytest.fixture(scope="session")
def fruit_csv(fruit, tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "Früchte.csv"
    fruit.to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def run(lvq, fruit_csv, tmp_path_factory):
    """The folder of a fit to the fruit, and the output of the command."""
    pytest.importorskip("jinja2")
    folder = tmp_path_factory.mktemp("runs") / "run"
    completed = lvq(
        "fit", fruit_csv, "--target", "Sorte", "--drop", "name", "--model", "grlvq", "--folds", "2", "--out", folder
    )
    assert completed.code == 0, completed.err
    return folder, completed
