"""The interpreters of the libraries: how they are made, and where they are.

This library, scikit-learn and NumPy run in the interpreter of the run. Each other library has an environment of its
own, with the versions of `environments.toml`; R comes from Debian's packages.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from typing import Any

ROOT = pathlib.Path(__file__).parent.parent
FOLDER = ROOT / ".bench"
#: Libraries that run in the interpreter of the run.
HERE = ("lvq", "numpy", "scikit-learn")


def specifications() -> dict[str, dict[str, Any]]:
    """Name -> packages of each environment."""
    return tomllib.loads((pathlib.Path(__file__).parent / "environments.toml").read_text(encoding="utf-8"))


def interpreter(library: str) -> str | None:
    """The Python that can import a library (for R: that starts it); None if its environment is missing."""
    if library in HERE:
        return sys.executable
    if library == "r-class":
        return sys.executable if has_r_class() else None
    python = FOLDER / library / "bin" / "python"
    return str(python) if (FOLDER / library / ".complete").exists() and python.exists() else None


def has_r_class() -> bool:
    """Whether R and its package class can be run."""
    if not shutil.which("Rscript"):
        return False
    return subprocess.run(["Rscript", "-e", "library(class)"], capture_output=True, check=False).returncode == 0


def missing(library: str) -> str:
    """Why a library cannot be measured here."""
    return f"not installed: python -m benchmarks environments {library}"


def make(names: Sequence[str]) -> int:
    """Make environments, all if no name is given; returns how many could not be made."""
    known = specifications()
    unknown = sorted(set(names) - set(known))
    if unknown:
        print(f"unknown environment {', '.join(unknown)}; there are {', '.join(known)}")
        return len(unknown)
    failures = 0
    for name in names or known:
        if interpreter(name):
            print(f"{name}: already there")
            continue
        error = _install_debian(known[name]) if "debian" in known[name] else _install(name, known[name])
        print(f"{name}: {error or 'made'}", flush=True)
        failures += error is not None
    return failures


def _install(name: str, specification: dict[str, Any]) -> str | None:
    """Make a virtual environment; gives the reason why it failed, or None."""
    folder = FOLDER / name
    shutil.rmtree(folder, ignore_errors=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    commands = [[sys.executable, "-m", "venv", str(folder)], [*pip, *specification["packages"]]]
    if "without_dependencies" in specification:
        commands.append([*pip, "--no-deps", *specification["without_dependencies"]])
    error = _first_error(commands)
    if error is None:
        (folder / ".complete").touch()
    return error


def _install_debian(specification: dict[str, Any]) -> str | None:
    command = ["apt-get", "install", "-y", "-qq", *specification["debian"]]
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return f"needs Debian's packages, as root: {' '.join(command)}"
    return _first_error([["apt-get", "update", "-qq"], command])


def _first_error(commands: Sequence[Sequence[str]]) -> str | None:
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line.strip()]
            return f"failed: {lines[-1] if lines else f'exit code {done.returncode}'}"
    return None
