"""Build wheel and sdist, and run `tools/smoke.py` with each in clean environments.

    python tools/release_check.py                 every Python that is found, oldest and newest packages, extras
    python tools/release_check.py --pythons 3.11 --extras onnx plot

It needs `build` and `uv` (`make release-check` installs them). Nothing is compiled: only wheels are taken. "oldest"
is the oldest version that `pyproject.toml` allows and that has a wheel for the Python. The files are in `dist/`;
results are printed, and written to `out/release-check.json`.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PYTHONS = ("3.11", "3.12", "3.13", "3.14", "3.14t")  # t: without the global lock
FOR_USERS = ("plot", "onnx", "report", "cli", "excel", "all", "dask", "gpu")


@dataclass(frozen=True)
class Case:
    """One environment: a Python, wheel or sdist, an extra or "base", oldest or newest packages."""

    python: str
    file: str
    extra: str
    versions: str


@dataclass(frozen=True)
class Outcome:
    """What the environment gave: "passed", "failed" or "not installed", and its versions or its error."""

    case: Case
    result: str
    output: str


def cases(pythons: list[str], extras: list[str], ages: list[str]) -> list[Case]:
    """The base with every Python, wheel and sdist with the first; each extra alone with the first."""
    found = [Case(python, "wheel", "base", age) for python in pythons for age in ages]
    found += [Case(pythons[0], "sdist", "base", "newest")]
    return found + [Case(pythons[0], "wheel", extra, age) for extra in extras for age in ages]


def build(folder: Path) -> dict[str, Path]:
    """An sdist, and a wheel that is built from it, alone in the folder."""
    shutil.rmtree(folder, ignore_errors=True)
    command = [sys.executable, "-m", "build", "--installer", "uv", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return {"wheel": next(folder.glob("*.whl")), "sdist": next(folder.glob("*.tar.gz"))}


def check_contents(wheel: Path) -> None:
    """The wheel contains the tracked files of the package and its metadata, nothing else."""
    listed = subprocess.run(["git", "ls-files", "src/lvq"], cwd=ROOT, check=True, capture_output=True, text=True)
    tracked = {name.removeprefix("src/") for name in listed.stdout.split()}
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
    if inside != tracked:
        raise SystemExit(f"{wheel.name}: missing {sorted(tracked - inside)}, not tracked {sorted(inside - tracked)}")
    if not wheel.name.endswith("-py3-none-any.whl"):
        raise SystemExit(f"{wheel.name} is not for every Python and platform.")


def install(case: Case, interpreter: str, file: Path, environment: Path) -> subprocess.CompletedProcess[str]:
    """A new environment with the package, and nothing else than it asks for."""
    python = ["--python", str(environment)]
    subprocess.run(["uv", "venv", "--quiet", "--python", interpreter, str(environment)], check=True)
    extra = "" if case.extra == "base" else f"[{case.extra}]"
    command = ["uv", "pip", "install", "--quiet", *python, f"lvq{extra} @ {file.as_uri()}"]
    if case.file == "wheel":
        command += ["--only-binary", ":all:"]
    if case.versions == "oldest":  # of what pyproject.toml names; what that needs in turn is the newest
        command += ["--resolution", "lowest-direct", "--requirement", str(ROOT / "pyproject.toml")]
        command += [] if case.extra == "base" else ["--extra", case.extra]
    return subprocess.run(command, check=False, cwd=environment, capture_output=True, text=True)


def smoke(case: Case, environment: Path) -> subprocess.CompletedProcess[str]:
    """The smoke test from an empty folder, without the checkout; where Linux allows it, without any network."""
    folder = "Scripts" if sys.platform == "win32" else "bin"
    command = [str(environment / folder / "python"), "-I", str(ROOT / "tools/smoke.py")]
    command += [] if case.extra == "base" else [case.extra]
    alone = ["unshare", "--map-root-user", "--net"]
    if shutil.which("unshare") and subprocess.run([*alone, "true"], check=False, capture_output=True).returncode == 0:
        command = [*alone, *command]
    return subprocess.run(command, check=False, cwd=environment, capture_output=True, text=True, timeout=900)


def run(case: Case, interpreter: str, file: Path) -> Outcome:
    """One case from nothing; its environment is removed."""
    with tempfile.TemporaryDirectory() as name:
        environment = Path(name) / "environment"
        installed = install(case, interpreter, file, environment)
        if installed.returncode:
            return Outcome(case, "not installed", installed.stderr[-2000:])
        finished = smoke(case, environment)
        if finished.returncode:
            return Outcome(case, "failed", finished.stderr[-2000:])
        return Outcome(case, "passed", finished.stdout.partition("python: ")[2])


def available(pythons: list[str]) -> dict[str, str]:
    """The path of each Python that uv finds on this machine; it downloads none."""
    found = {}
    for python in pythons:
        request = python if python.endswith("t") else f"{python}+gil"  # else 3.14t would answer for 3.14
        command = ["uv", "python", "find", "--system", "--no-python-downloads", "--no-project", request]
        answer = subprocess.run(command, check=False, capture_output=True, text=True)
        if answer.returncode == 0:
            found[python] = answer.stdout.strip()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pythons", nargs="+", help="an error if one is missing; default: those that are found")
    parser.add_argument("--extras", nargs="*", default=list(FOR_USERS))
    parser.add_argument("--versions", nargs="+", choices=("oldest", "newest"), default=["oldest", "newest"])
    arguments = parser.parse_args()
    known = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])
    if unknown := set(arguments.extras) - known:
        parser.error(f"no such extra: {sorted(unknown)}; choose from {sorted(known)}")
    wanted = arguments.pythons or list(PYTHONS)
    found = available(wanted)
    if missing := [python for python in wanted if python not in found]:
        print(f"Not on this machine, not tried: Python {', '.join(missing)}.", flush=True)
    if missing and (arguments.pythons or not found):
        return 1
    files = build(ROOT / "dist")
    check_contents(files["wheel"])
    outcomes = []
    for case in cases(list(found), arguments.extras, arguments.versions):
        outcomes.append(outcome := run(case, found[case.python], files[case.file]))
        print(f"{outcome.result:14}", *asdict(case).values(), flush=True)
        if outcome.result != "passed":
            print(outcome.output, flush=True)
    target = ROOT / "out/release-check.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps([asdict(outcome) for outcome in outcomes], indent=1) + "\n")
    return int(any(outcome.result != "passed" for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
