"""What a result has to name: the machine, the versions and the commit; no host names, no paths."""

import os
import pathlib
import platform
import subprocess
from typing import Any

from benchmarks.environments import ROOT, specifications
from benchmarks.processes import Workers

HERE_SHOWN = ("numpy", "scipy", "scikit-learn", "numba")


def description() -> dict[str, Any]:
    """Processor, cores, memory, system and Python."""
    return {
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gigabytes": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def processor() -> str:
    """The processor's name, where Linux tells it."""
    path = pathlib.Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"


def versions(workers: Workers, libraries: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """The packages of each library that can be run."""
    known, found = specifications(), {}
    for library in libraries:
        packages = known[library]["shown"] if library in known else HERE_SHOWN
        if workers.interpreter(library) is None or not packages:
            continue
        result = workers.ask(library, {"operation": "versions", "packages": list(packages)})
        found[library] = result.get("versions", {})
    return found


def commit() -> str:
    """The commit checked out, with a plus where the code differs from it; results do not count as code."""
    changed = _git("status", "--porcelain", "--", "src", "benchmarks", ":(exclude)benchmarks/results")
    return (_git("rev-parse", "--short=12", "HEAD") or "unknown") + ("+" if changed else "")


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""  # an unpacked archive has no history
    return done.stdout.strip()
