"""What every test and doctest shares: which examples need an extra, and no figure left open."""

import os
import signal
import sys
from importlib.util import find_spec

import pytest

os.environ.setdefault("MPLBACKEND", "Agg")
# a run that was started in the background ignores Ctrl-C, and so would the programs that the tests interrupt
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Examples that cannot run, or modules that cannot be imported, without an extra.
collect_ignore = [] if find_spec("torch") and find_spec("triton") else ["src/lvq/model/fused.py"]
if not find_spec("torch"):
    collect_ignore += ["src/lvq/torch.py"]
if not find_spec("matplotlib"):
    drawn = ("__init__", "curves", "effects", "evidence", "projection", "prototypes", "relevance")
    collect_ignore += [f"src/lvq/plots/{name}.py" for name in drawn]
    collect_ignore += ["tests/experiments"]  # a run without its figures is not a whole one

if not (find_spec("typer") and find_spec("rich")):
    collect_ignore += [f"src/lvq/cli/{name}.py" for name in ("app", "console", "options")]
if not (find_spec("onnx") and find_spec("skl2onnx")):
    collect_ignore += ["src/lvq/onnx/converters.py", "src/lvq/onnx/export.py"]

if not (find_spec("jinja2") and find_spec("matplotlib")):
    collect_ignore += ["src/lvq/reports/page.py", "src/lvq/reports/summary.py"]


@pytest.fixture(autouse=True)
def closed_figures():
    """Twenty open figures are a warning, and a warning is an error."""
    yield
    plt = sys.modules.get("matplotlib.pyplot")
    if plt is not None:
        plt.close("all")


def pytest_runtest_setup(item):
    """One thread for torch: its own would compete with the other worker of the test run."""
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "set_num_threads") and torch.get_num_threads() > 1:
        torch.set_num_threads(1)
