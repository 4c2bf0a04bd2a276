"""`lvq report`, `export`, `reproduce`, `demo`, help, version and completion."""

import json
import re
import shutil
import subprocess
import sys
import time
import types
from pathlib import Path

import pytest

import lvq as package

pytest.importorskip("pandas")
pytest.importorskip("typer")
COMMANDS = ["fit", "predict", "compare", "report", "export", "reproduce", "demo"]


# -- report ------------------------------------------------------------------------------------------------------------


def test_a_report_is_rendered_again(lvq, run, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(run[0], folder)
    (folder / "report.html").unlink()
    said = lvq("report", folder)
    assert (said.code, said.out) == (0, f"Written: {folder / 'report.html'}\n")
    assert (folder / "report.html").read_bytes() == (run[0] / "report.html").read_bytes()


@pytest.mark.parametrize("content", [None, "", "{}", "[1]", '{"data": 3}', "\udcff"])
def test_a_report_of_nonsense_is_refused(lvq, tmp_path, content):
    if content is not None:
        (tmp_path / "metrics.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    said = lvq("report", tmp_path)
    assert said.code == 1
    assert said.err.startswith("Error: ")
    assert "metrics.json" in said.err
    assert len(said.err.splitlines()) == 1
    assert not (tmp_path / "report.html").exists()


def test_a_report_of_an_older_version_is_refused(lvq, run, tmp_path):
    metrics = json.loads((run[0] / "metrics.json").read_text(encoding="utf-8"))
    for name in metrics:
        (tmp_path / "metrics.json").write_text(
            json.dumps({key: value for key, value in metrics.items() if key != name}), encoding="utf-8"
        )
        said = lvq("report", tmp_path)
        if said.code:
            assert re.fullmatch(r"Error: .*metrics\.json is not what this version of `lvq fit` writes .*\n", said.err)


# -- export ------------------------------------------------------------------------------------------------------------


def test_a_model_is_exported(lvq, run, tmp_path):
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("skl2onnx")
    path = tmp_path / "model.onnx"
    said = lvq("export", run[0], "--onnx", path)
    assert said.code == 0, said.err
    onnx.checker.check_model(onnx.load(path))
    assert lvq("export", run[0], "--onnx", path).code == 1
    assert lvq("export", run[0], "--onnx", path, "--force").code == 0
    assert "There is no model" in lvq("export", tmp_path, "--onnx", tmp_path / "x.onnx").err


def test_a_model_is_not_replaced_by_its_graph(lvq, run, tmp_path):
    for extra in ("onnx", "skl2onnx"):
        pytest.importorskip(extra)
    folder = shutil.copytree(run[0], tmp_path / "run")
    said = lvq("export", folder, "--onnx", folder / "model.lvq", "--force")
    assert said.code == 1
    assert "is the model itself" in said.err
    assert (folder / "model.lvq").read_bytes() == (run[0] / "model.lvq").read_bytes()


# -- reproduce ---------------------------------------------------------------------------------------------------------


def experiments_of(folder, code):
    (folder / "experiments").mkdir()
    (folder / "experiments" / "__main__.py").write_text(code, encoding="utf-8")


def test_experiments_are_run_in_the_checkout(lvq, monkeypatch, tmp_path):
    experiments_of(tmp_path, "import json, sys; json.dump(sys.argv[1:], open('told.json', 'w')); sys.exit(3)")
    monkeypatch.setattr("lvq.workflow.running.experiments_root", lambda: tmp_path)
    said = lvq("reproduce", "jin", "--quick", "--jobs", 2, "--out", tmp_path)
    assert said.code == 3
    told = json.loads((tmp_path / "told.json").read_text(encoding="utf-8"))
    assert told == ["jin", "--quick", "--jobs", "2", "--out", str(tmp_path)]


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent")
def test_interrupted_experiments_have_the_last_word(tmp_path):
    """They keep what they have finished, so "nothing was written" would be wrong."""
    import os
    import signal

    experiments_of(
        tmp_path,
        "import sys, time\ntry:\n    print('begun', flush=True)\n    time.sleep(60)\n"
        "except KeyboardInterrupt:\n    sys.exit('some are kept')\n",
    )
    code = (
        "import pathlib, sys, lvq.workflow.running as running; from lvq.cli import main; "
        f"running.experiments_root = lambda: pathlib.Path({str(tmp_path)!r}); sys.argv[1:] = ['reproduce', 'x']; main()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout.readline() == "begun\n"
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        _, err = process.communicate(timeout=50)
    assert (process.returncode, err) == (1, "some are kept\n")


def test_without_a_checkout_a_sentence(lvq, monkeypatch):
    monkeypatch.setattr("lvq.workflow.running.experiments_root", lambda: None)
    said = lvq("reproduce", "jin")
    assert said.code == 1
    assert "checkout" in said.err


# -- demo --------------------------------------------------------------------------------------------------------------


def test_the_demonstration_does_the_whole_job(lvq, tmp_path, monkeypatch):
    for extra in ("altair", "vl_convert"):
        pytest.importorskip(extra)
    monkeypatch.chdir(tmp_path)
    folder = Path("demo")
    said = lvq("demo", "--out", folder)
    assert said.code == 0, said.err
    files = {"model.lvq", "report.html", "metrics.json", "wdbc.csv", "predictions.csv"}
    assert {path.name for path in folder.iterdir()} == files
    assert "Guaranteed with confidence 0.95: at most 5 % of the accepted answers are wrong" in said.out
    scores = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))["scores"]
    assert scores["accuracy"] > 0.9
    assert scores["accepted_accuracy"] >= 0.95
    assert max(map(len, said.out.splitlines())) <= 120
    # the commands that it shows are commands
    shown = re.findall(r"^\$ lvq (.*)$", said.out, flags=re.MULTILINE)
    assert len(shown) == 2
    assert lvq(*shown[1].split(), "--force").code == 0
    assert lvq(*shown[0].split()).err.startswith("Error: demo holds model.lvq")  # it would run
    assert lvq("demo", "--out", folder).code == 1


def test_an_interrupted_demonstration_leaves_nothing(lvq, tmp_path, monkeypatch):
    def fitted(table, target, *, out, **options):
        (out / "model.lvq").touch()
        return types.SimpleNamespace(model=None)

    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("lvq.workflow.running.fit_table", fitted)
    monkeypatch.setattr("lvq.workflow.running.predict_table", interrupt)
    said = lvq("demo", "--out", tmp_path / "demo")
    assert (said.code, said.err.splitlines()[-1]) == (130, "Interrupted: nothing was written.")
    assert list(tmp_path.iterdir()) == []


# -- the program itself ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [["--help"], ["fit", "--help"], ["predict", "--help"], ["compare", "--help"]])
def test_help_fits_a_screen(lvq, monkeypatch, arguments):
    monkeypatch.setenv("COLUMNS", "80")
    said = lvq(*arguments)
    lines = said.out.splitlines()
    assert said.code == 0
    assert max(map(len, lines)) <= 80
    if len(arguments) == 1:
        assert len(lines) < 24
        assert re.findall(r"^  (\w+)  +[A-Z].*\.$", said.out, flags=re.MULTILINE) == COMMANDS


def test_help_says_what_the_radius_is(lvq):
    said = lvq("predict", "--help").out
    assert "standardised units" in " ".join(said.split())


def test_version(lvq):
    assert lvq("--version")[:2] == (0, f"lvq {package.__version__}\n")


def test_no_command_is_wrong_use(lvq):
    assert lvq().code == 2
    said = lvq("fitt")
    assert said.code == 2
    assert "No such command" in said.err


def test_help_loads_nothing_that_computes():
    code = "import sys, lvq.cli.app; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(result.stdout.split())
    assert not loaded & {"numpy", "scipy", "sklearn", "pandas", "pyarrow", "rich", "numba", "torch", "altair"}


def test_without_typer_the_extra_is_named():
    code = "import sys; sys.modules['typer'] = None; import lvq.cli; lvq.cli.main()"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stderr == 'Error: the command line needs typer, which is not installed: pip install "lvq[cli]".\n'


def completed(words, monkeypatch, capsys):
    """What the shell would offer for the last of some words."""
    from lvq.cli.app import app

    monkeypatch.setenv("_LVQ_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", " ".join(["lvq", *words]))
    monkeypatch.setenv("COMP_CWORD", str(len(words)))
    with pytest.raises(SystemExit):
        app([], prog_name="lvq")
    return capsys.readouterr().out.split("\n")


def test_completion(monkeypatch, capsys, fruit_csv):
    assert "predict" in completed(["pr"], monkeypatch, capsys)
    assert "gmlvq" in completed(["fit", "t.csv", "--model", "gm"], monkeypatch, capsys)
    assert "weight" in completed(["fit", str(fruit_csv), "--target", "we"], monkeypatch, capsys)


def test_completion_knows_the_models():
    from lvq.cli.completion import KERNELS, MODELS
    from lvq.model import links
    from lvq.workflow.assembly import NAMES
    from lvq.workflow.comparing import COMPARED

    assert set(COMPARED) <= set(MODELS) <= set(NAMES)
    assert set(KERNELS) == {*links.KERNELS, "none"}


def test_as_a_module_whose_reader_stops_reading():
    """``python -m lvq.cli ... | head -1`` is no failure."""
    command = f"{sys.executable} -m lvq.cli fit --help | head -1"
    result = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert result.stdout.startswith("Usage: lvq fit")
    assert result.stderr == ""


# -- Ctrl-C ------------------------------------------------------------------------------------------------------------


def test_control_c_while_the_program_starts():
    code = (
        "import sys, lvq.cli\n"
        "class Stop:\n"
        "    def find_spec(self, name, *more):\n"
        "        if name == 'lvq.cli.app': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Stop()); lvq.cli.main()"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (130, "")


SLOW = """
import sys, time
import lvq.workflow.fitting as fitting
import lvq.report as report
def slow(*arguments, **options):
    print("begun", flush=True)
    time.sleep(60)
{patch}
from lvq.cli import main
main()
"""
PATCHES = {
    "fitting": "fitting.make_rejecting = lambda *a, **k: type('Slow', (), {'fit': slow})()",
    "writing": "report.write = slow",
}


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent")
@pytest.mark.parametrize(("where", "name", "code"), [("fitting", "SIGINT", 130), ("writing", "SIGTERM", 143)])
def test_an_interrupted_fit_leaves_nothing(fruit_csv, tmp_path, where, name, code):
    import signal

    arguments = ["fit", fruit_csv, "--target", "Sorte", "--drop", "name", "--model", "glvq", "--folds", "0"]
    with subprocess.Popen(
        [sys.executable, "-c", SLOW.format(patch=PATCHES[where]), *arguments, "--out", tmp_path / "deep" / "run"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout.readline() == "begun\n"
        process.send_signal(getattr(signal, name))
        start = time.monotonic()
        out, err = process.communicate(timeout=50)
        assert time.monotonic() - start < 40  # it would have slept longer
    assert process.returncode == code
    assert out == ""
    assert "Traceback" not in err
    if name == "SIGINT":
        assert err.splitlines()[-1] == "Interrupted: nothing was written."
    assert list(tmp_path.iterdir()) == []
