"""What numba's cache on disk depends on: the text of every file of the compiled code."""

import importlib
import pkgutil

from numba.core.caching import NullCache
from numba.core.registry import CPUDispatcher

from lvq.solvers import kernels
from lvq.solvers.kernels.compiling import helper, inlined, stored, version_of


def test_the_version_depends_on_the_text_of_every_file(tmp_path):
    for name in ("one.py", "two.py"):
        (tmp_path / name).write_text("first = 1\n", encoding="utf-8")
    before = version_of(tmp_path)
    assert version_of(tmp_path) == before > 0
    for name in ("one.py", "two.py"):
        (tmp_path / name).write_text("first = 2\n", encoding="utf-8")
        assert version_of(tmp_path) != before
        (tmp_path / name).write_text("first = 1\n", encoding="utf-8")


def test_only_functions_of_the_version_are_stored():
    """numba would load any other one from the disk although a function of another file, which it calls, was edited."""
    names = [f"{kernels.__name__}.{module.name}" for module in pkgutil.iter_modules(kernels.__path__)]
    parts = {id(part): part for name in names for part in vars(importlib.import_module(name)).values()}
    compiled = [part for part in parts.values() if isinstance(part, CPUDispatcher)]
    stored = [part for part in compiled if not isinstance(part._cache, NullCache)]
    assert sorted(part.__name__ for part in stored) == [
        "matrices_epochs",
        "plain_epochs",
        "sparse_epochs",
        "weights_epochs",
    ]
    assert all("version" in part.py_func.__code__.co_freevars for part in stored)
    assert len(compiled) > 40


def test_loops_release_the_lock_and_keep_nan():
    """Folds and restarts run in threads; a NaN must be seen, so no flag may assume that there is none."""
    for options in (part(lambda x: x).targetoptions for part in (helper, inlined, stored)):
        assert options["nogil"] is True
        assert options["error_model"] == "numpy"  # a division by zero is no error
        assert not options["fastmath"] & {"nnan", "ninf", "fast"}
    assert inlined(lambda x: x).targetoptions["forceinline"] is True
