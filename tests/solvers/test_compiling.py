"""What numba's cache on disk depends on: the text of every file of the compiled code."""

import importlib
import os
import pkgutil
import subprocess
import sys

from numba.core.caching import NullCache
from numba.core.registry import CPUDispatcher

from lvq.solvers import kernels
from lvq.solvers.kernels.compiling import VERSION, helper, inlined, stored

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"}
ENVIRONMENT.pop("NUMBA_CACHE_DIR", None)


def test_only_functions_with_the_version_as_an_argument_are_stored():
    """numba would load any other one from the disk although a function of another file, which it calls, was edited."""
    names = [f"{kernels.__name__}.{module.name}" for module in pkgutil.iter_modules(kernels.__path__)]
    parts = {id(part): part for name in names for part in vars(importlib.import_module(name)).values()}
    compiled = [part for part in parts.values() if isinstance(part, CPUDispatcher)]
    stored = [part for part in compiled if not isinstance(part._cache, NullCache)]
    assert sorted(part.__name__ for part in stored) == [
        "matrices_epoch",
        "plain_epoch",
        "sparse_epoch",
        "weights_epoch",
    ]
    assert all(part.py_func.__defaults__ == (VERSION,) for part in stored)
    assert len(compiled) > 35


def test_loops_release_the_lock_and_keep_nan():
    """Folds and restarts run in threads; a NaN must be seen, so no flag may assume that there is none."""
    for options in (part(lambda x: x).targetoptions for part in (helper, inlined, stored)):
        assert options["nogil"] is True
        assert options["error_model"] == "numpy"  # a division by zero is no error
        assert not options["fastmath"] & {"nnan", "ninf", "fast"}
    assert inlined(lambda x: x).targetoptions["forceinline"] is True


def test_an_edited_callee_is_seen_in_the_next_process(tmp_path):
    """The default of an argument that is left out is part of the signature by which numba finds a stored function."""
    caller = (
        "import sys\nfrom pathlib import Path\nfrom lvq.solvers.kernels.compiling import stored, version_of\n"
        "from callee import number\n\n\n@stored\ndef call(version=version_of(Path(__file__).parent)):\n"
        "    return number()\n\n\nprint(call(), sum(call.stats.cache_hits.values()))\n"
    )
    (tmp_path / "caller.py").write_text(caller, encoding="utf-8")
    found = []
    for value in (1, 1, 2):
        callee = f"from lvq.solvers.kernels.compiling import helper\n\n\n@helper\ndef number():\n    return {value}\n"
        (tmp_path / "callee.py").write_text(callee, encoding="utf-8")
        run = subprocess.run(
            [sys.executable, "caller.py"], cwd=tmp_path, capture_output=True, text=True, check=True, env=ENVIRONMENT
        )
        found.append(run.stdout.split())
    assert found == [["1", "0"], ["1", "1"], ["2", "0"]]
