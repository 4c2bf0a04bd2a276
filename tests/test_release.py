"""What a release consists of: the package without a network, lock file, citation, workflows."""

import re
import subprocess
import sys
import tomllib
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import lvq

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FOR_DEVELOPMENT = {"test", "test-all", "check", "docs"}  # extras
SMOKE = ROOT / "tools/smoke.py"


def tool(name):
    spec = spec_from_file_location(f"tool_{name}", ROOT / f"tools/{name}.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
    smoke = tool("smoke")
    assert set(PROJECT["optional-dependencies"]) - FOR_DEVELOPMENT == set(smoke.CHECKS) - {"base"}
    assert set(tool("release_check").FOR_USERS) == set(smoke.CHECKS) - {"base"}


# -- lock file ---------------------------------------------------------------------------------------------------------


def wanted(names, extras):
    for text in names:
        requirement = Requirement(text)
        if requirement.name == "lvq":
            for extra in requirement.extras:
                yield from wanted(extras[extra], extras)
        else:
            yield requirement


def test_the_lock_satisfies_every_requirement():
    extras, locked = PROJECT["optional-dependencies"], {}
    for name, version in re.findall(r"^([a-z0-9.-]+)==(\S+)", text_of("requirements-dev.lock"), flags=re.MULTILINE):
        locked.setdefault(name, []).append(version)
    names = [*PROJECT["dependencies"], *(name for key in ("test-all", "check", "docs", "dask") for name in extras[key])]
    for requirement in wanted(names, extras):
        versions = locked[canonicalize_name(requirement.name)]
        assert all(requirement.specifier.contains(version) for version in versions), requirement


def test_the_lock_has_hashes_and_no_addresses():
    text = text_of("requirements-dev.lock")
    assert "://" not in text
    assert "/work" not in text
    for block in re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]:
        assert "--hash=sha256:" in block, block


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
def test_workflows_have_no_rights_by_default(path):
    text = path.read_text(encoding="utf-8")
    assert re.search(r"^permissions:\n  contents: read$", text, flags=re.MULTILINE)
    assert "secrets." not in text


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_of_others_are_pinned_to_a_commit(path):
    used = re.findall(r"uses: (?!\./)(.*)", path.read_text(encoding="utf-8"))
    assert used
    for action in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action


def test_the_workflow_tests_what_is_promised():
    text = text_of(".github/workflows/tests.yml")
    for part in ("ubuntu-latest", "macos-latest", "windows-latest", *(f'"3.{minor}"' for minor in (11, 12, 13, 14))):
        assert part in text
