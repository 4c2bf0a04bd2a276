"""What a release consists of: the package without a network, citation, workflows."""

import re
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import lvq
from tools import release_check, smoke

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FOR_DEVELOPMENT = {"test", "test-all", "check", "docs"}  # extras
SMOKE = ROOT / "tools/smoke.py"


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


# -- no network --------------------------------------------------------------------------------------------------------


def test_import_fit_and_files_without_a_network():
    finished = subprocess.run([sys.executable, str(SMOKE)], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    assert f"lvq: {lvq.__version__}" in finished.stdout


NEEDS = {
    "plot": "matplotlib",
    "onnx": "skl2onnx",
    "dask": "dask",
    "gpu": "torch",
    "report": "jinja2",
    "excel": "openpyxl",
}


@pytest.mark.slow
@pytest.mark.parametrize("extra", [*NEEDS, "cli"])
def test_extras_without_a_network(extra):
    if not find_spec(NEEDS.get(extra, "typer")):
        pytest.skip(f"lvq[{extra}] is not installed")
    finished = subprocess.run([sys.executable, str(SMOKE), extra], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr


@pytest.mark.parametrize(
    "use",
    [
        "import socket; socket.create_connection(('127.0.0.1', 9), timeout=1)",
        "import urllib.request; urllib.request.urlopen('http://localhost')",
        "import socket; socket.getaddrinfo('localhost', 80)",
    ],
)
def test_the_guard_notices_a_connection(use):
    code = f"import runpy, sys; sys.addaudithook(runpy.run_path({str(SMOKE)!r})['refuse_network']); {use}"
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert finished.returncode == 1
    assert "the network was used" in finished.stderr


def test_every_extra_for_users_has_a_smoke_test():
    assert set(PROJECT["optional-dependencies"]) - FOR_DEVELOPMENT == set(smoke.CHECKS) - {"base"}
    assert set(release_check.FOR_USERS) == set(smoke.CHECKS) - {"base"}


# -- versions and workflows --------------------------------------------------------------------------------------------


def test_the_citation_has_the_version():
    assert f"\nversion: {lvq.__version__}\n" in text_of("CITATION.cff")


def test_the_oldest_versions_are_those_of_the_project():
    """`constraints-oldest.txt` is the newest patch of the smallest version that pyproject.toml allows."""
    pins = dict(line.split("==") for line in text_of("constraints-oldest.txt").split())
    for requirement in map(Requirement, PROJECT["dependencies"]):
        (bound,) = (part.version for part in requirement.specifier)
        assert (pins[requirement.name] + ".").startswith(bound + "."), requirement


WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_have_no_rights_by_default_and_pin_actions_of_others(path):
    text = path.read_text(encoding="utf-8")
    assert re.search(r"^permissions:\n  contents: read$", text, flags=re.MULTILINE)
    assert "secrets." not in text
    used = re.findall(r"uses: (?!\./)(.*)", text)
    assert used
    for action in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action


def test_the_workflow_tests_what_is_promised():
    text = text_of(".github/workflows/tests.yml")
    for part in ("ubuntu-latest", "macos-latest", "windows-latest", *(f'"3.{minor}"' for minor in (11, 12, 13, 14))):
        assert part in text
