"""The program: help, version, completion, imports, and Ctrl-C."""

import re
import signal
import subprocess
import sys

import pytest

import lvq as package
from lvq import RejectClassifier

pytest.importorskip("pandas")
pytest.importorskip("typer")
COMMANDS = ["fit", "predict", "validate", "compare", "export", "demo"]


# -- help and completion -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [["--help"], ["fit", "--help"], ["predict", "--help"], ["compare", "--help"]])
def test_help_fits_a_screen(lvq, monkeypatch, arguments):
    monkeypatch.setenv("COLUMNS", "80")
    completed = lvq(*arguments)
    lines = completed.out.splitlines()
    assert completed.code == 0
    assert max(map(len, lines)) <= 80
    if len(arguments) == 1:
        assert len(lines) < 24
        assert re.findall(r"^  (\w+)  +[A-Z].*\.$", completed.out, flags=re.MULTILINE) == COMMANDS


def test_the_program_is_a_module():
    completed = subprocess.run([sys.executable, "-m", "lvq", "--version"], capture_output=True, text=True, check=True)
    assert completed.stdout == f"lvq {package.__version__}\n"


def test_no_or_an_unknown_command_is_wrong_usage(lvq):
    assert lvq().code == 2
    completed = lvq("fitt")
    assert completed.code == 2
    assert "No such command" in completed.err


def test_help_imports_no_heavy_module():
    code = "import sys, lvq.cli.app; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(result.stdout.split())
    assert not loaded & {"numpy", "scipy", "sklearn", "pandas", "pyarrow", "rich", "numba", "torch"}


def test_without_typer_the_extra_is_named():
    code = "import sys; sys.modules['typer'] = None; import lvq.cli; lvq.cli.main()"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stderr == 'Error: the command line needs typer, which is not installed: pip install "lvq[cli]".\n'


def test_library_warnings_become_plain_notes(capsys):
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    from lvq.cli.console import report_errors

    with report_errors(debug=False):
        warnings.warn("lbfgs failed to converge (status=1)", ConvergenceWarning, stacklevel=1)
        warnings.warn("The least populated class has only 2 members, less than n_splits=3.", UserWarning, stacklevel=1)
        warnings.warn("Fewer prototypes than requested: class a. Lower n_prototypes.", UserWarning, stacklevel=1)
        warnings.warn("own text", UserWarning, stacklevel=1)
    assert capsys.readouterr().err.splitlines() == [
        "Note: Some fits stopped before they converged; their models are used as they are.",
        "Note: A class has fewer training rows than there are folds, so some folds contain none of its rows.",
        "Note: A class has fewer distinct training rows than prototypes; it gets one prototype per row.",
        "Note: own text",
    ]


def test_a_closed_pipe_is_no_failure():
    """``python -m lvq ... | head -1``."""
    command = f"{sys.executable} -m lvq fit --help | head -1"
    result = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert result.stdout.startswith("Usage: lvq fit")
    assert result.stderr == ""


# -- Ctrl-C ------------------------------------------------------------------------------------------------------------


def test_control_c_at_start():
    code = (
        "import sys, lvq.cli\n"
        "class Stop:\n"
        "    def find_spec(self, name, *more):\n"
        "        if name == 'lvq.cli.app': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Stop()); lvq.cli.main()"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (130, "")


class Interrupting(RejectClassifier):
    """A classifier whose fit is interrupted."""

    def fit(self, X, y, **params):
        signal.raise_signal(signal.SIGINT)


def interrupted_report(summary, path):
    signal.raise_signal(signal.SIGINT)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent")
@pytest.mark.parametrize(
    ("place", "replacement"),
    [
        ("lvq.workflow.fitting.make_reject_classifier", lambda estimator, **k: Interrupting(estimator)),
        ("lvq.reports.page.write_page", interrupted_report),
    ],
)
def test_an_interrupted_fit_leaves_no_file(lvq, fruit_csv, tmp_path, monkeypatch, place, replacement):
    monkeypatch.setattr(place, replacement)
    completed = lvq(
        "fit", fruit_csv, "--target", "Sorte", "--drop", "name", "--model", "glvq", "--folds", "0", "--out",
        tmp_path / "deep" / "run",
    )  # fmt: skip
    assert (completed.code, completed.out) == (130, "")
    assert completed.err.splitlines()[-1] == "Interrupted: nothing was written."
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
