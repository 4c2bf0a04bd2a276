"""Tests for mutants: which tests enter which function, and a run of some tests with one module changed.

A run is a fork of this process, which has imported the large packages but not `lvq`. The child compiles the changed
module in place of the file, so that nothing is copied and the checkout stays as it is.
"""

import ast
import contextlib
import gc
import importlib.abc
import importlib.machinery
import importlib.util
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import CodeType, ModuleType

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
OPTIONS = ["-o", "addopts=", "--import-mode=importlib", "-m", "not slow", "-q", "-x", "-p", "no:xdist"]
OPTIONS += ["-p", "no:cacheprovider", "--no-header", "--tb=no", "--no-summary"]
OPTIONS += ["--assert=plain"]  # no assertion is rewritten: only whether it holds counts
LARGE = ["numpy", "scipy.optimize", "scipy.stats", "sklearn.base", "sklearn.model_selection", "sklearn.pipeline"]
LARGE += ["sklearn.datasets", "sklearn.utils.estimator_checks", "numba", "hypothesis", "torch", "dask.array"]
MEMORY = 6 * 2**30  # bytes a run may take; a mutant may ask for any size
PATIENCE = 900  # seconds by the clock, for a run that waits forever
ENTERED: set[str] = set()  # functions entered by the present test: file and name


class Reach:
    """A plugin of pytest: the functions of the package that each test enters, and its seconds of processor time."""

    def __init__(self, cases: int, longest: float) -> None:
        self.cases, self.longest = cases, longest
        self.tests: dict[str, dict[str, object]] = {}
        self.failed: set[str] = set()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Only so many cases of a test: spread over all of its cases."""
        by_test: dict[str, list[pytest.Item]] = {}
        for item in items:
            by_test.setdefault(item.nodeid.split("[")[0], []).append(item)
        items[:] = [item for cases in by_test.values() for item in cases[:: -(-len(cases) // self.cases)]]

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """One test, with its fixtures."""
        ENTERED.clear()
        began = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, self.longest)
        yield
        signal.setitimer(signal.ITIMER_PROF, 0)
        seconds = round(time.process_time() - began, 3)
        if item.nodeid not in self.failed:
            self.tests[item.nodeid] = {"seconds": seconds, "functions": sorted(ENTERED)}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test that fails or is skipped tells nothing about mutants."""
        if not report.passed:
            self.failed.add(report.nodeid)
            self.tests.pop(report.nodeid, None)


class EndAtOnce:
    """A plugin of pytest that writes the first test that fails, and leaves out all work after the last test."""

    def __init__(self, out: int) -> None:
        self.out = out

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """The name of a test that fails."""
        if report.failed:
            os.write(self.out, report.nodeid.encode())

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """End the process."""
        os._exit(int(exitstatus))


class Changed(importlib.machinery.SourceFileLoader):
    """A module of the package with other code than that of its file."""

    def __init__(self, name: str, path: Path, tree: ast.Module) -> None:
        super().__init__(name, str(path))
        self.tree = tree

    def get_code(self, fullname: str) -> CodeType:
        """The changed code, with the lines of the file."""
        return compile(self.tree, self.path, "exec")


class Finder(importlib.abc.MetaPathFinder):
    """Finds some modules of the package, before all other finders, with the code that a function makes."""

    def __init__(self, files: Sequence[Path], make: Callable[[Path], ast.Module]) -> None:
        self.files = {".".join(path.relative_to(SOURCE).with_suffix("").parts): path for path in files}
        self.make = make

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The changed module, or nothing for every other one."""
        if fullname not in self.files:
            return None
        file = self.files[fullname]
        loader = Changed(fullname, file, self.make(file))
        return importlib.util.spec_from_file_location(fullname, file, loader=loader)


def walk(node: ast.AST, function: str = "", inside: bool = False) -> Iterator[tuple[ast.AST, str, bool]]:
    """All nodes, with the outermost function or method, else the class, that holds them; whether it is a function."""
    for child in ast.iter_child_nodes(node):
        name, within = function, inside
        if isinstance(child, ast.ClassDef) and not inside:
            name = child.name
        if isinstance(child, ast.FunctionDef) and not inside:
            name, within = f"{function}.{child.name}".lstrip("."), True
        yield child, name, within
        yield from walk(child, name, within)


def noted(path: Path) -> ast.Module:
    """The code of a file, in which every function first notes that it was entered."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node, function, _ in list(walk(tree)):
        if isinstance(node, ast.FunctionDef):
            place = f"{path.relative_to(ROOT).as_posix()}:{function}"
            note = ast.parse(f"__import__('mutant_tests').ENTERED.add({place!r})").body
            described = ast.get_docstring(node) is not None
            node.body[described:described] = [ast.copy_location(part, node.body[0]) for part in note]
    return ast.fix_missing_locations(tree)


def prepare(*, compiled: bool) -> None:
    """Import the large packages once; without numba's compiler, changed loops run at once, as plain Python."""
    if not compiled:
        os.environ["NUMBA_DISABLE_JIT"] = "1"
    os.chdir(ROOT)
    sys.path.insert(0, str(SOURCE))
    for name in LARGE:
        with contextlib.suppress(ImportError):  # some are extras
            importlib.import_module(name)
    if any(name == "lvq" or name.startswith("lvq.") for name in sys.modules):
        raise RuntimeError("lvq must not be imported before the changed module.")
    gc.freeze()


def too_long(*_: object) -> None:
    """End a test that is too slow to be run for every mutant."""
    raise TimeoutError


def reach(files: Sequence[Path], tests: Sequence[str], cases: int, longest: float) -> dict[str, dict[str, object]]:
    """Run some cases of the tests once, and note which functions of the files each of them enters."""
    sys.meta_path.insert(0, Finder(files, noted))
    signal.signal(signal.SIGPROF, too_long)
    plugin = Reach(cases, longest)
    pytest.main([*(option for option in OPTIONS if option != "-x"), *tests], plugins=[plugin])
    return plugin.tests


def failing(path: Path, tree: ast.Module, tests: Sequence[str], seconds: float) -> list[str]:
    """The first test that fails with the changed module; all, where the process ends or takes too long; or none."""
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            limited(seconds)
            sys.meta_path.insert(0, Finder([path], lambda _: tree))
            pytest.main([*OPTIONS, *tests], plugins=[EndAtOnce(writable)])
        os._exit(1)
    passed = waited(child) == 0
    os.write(writable, b"\n")
    name = os.read(readable, 2**16).decode().strip()
    os.close(readable)
    os.close(writable)
    return [] if passed else [name] if name else list(tests)


def limited(seconds: float) -> None:
    """Limit processor time and memory of this process, and print nothing."""
    whole = int(seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (whole, whole))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)


def waited(child: int) -> int:
    """The exit status of a child; one that waits forever is ended."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        finished, status = os.waitpid(child, os.WNOHANG)
        if finished:
            return status
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]
