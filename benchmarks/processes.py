"""Worker processes: one for each interpreter and number of threads, started when first asked.

A task that takes too long ends its process, and the next task starts another one.
"""

import atexit
import contextlib
import json
import os
import selectors
import signal
import subprocess
import time
from typing import Any, Self

from benchmarks import environments

#: The largest memory of a worker, so that a library that asks for more fails instead of the machine.
MEGABYTES = 12_000
POOLS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def thread_settings(threads: int | None) -> dict[str, str]:
    """Environment variables that keep every pool at one thread; none for the default."""
    if threads is None:
        return {}
    flags = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    return dict.fromkeys(POOLS, str(threads)) | {"XLA_FLAGS": flags}


class Worker:
    """A process that runs tasks of one interpreter."""

    def __init__(self, python: str, threads: int | None) -> None:
        core = str(max(os.sched_getaffinity(0))) if threads == 1 and hasattr(os, "sched_getaffinity") else "-"
        clean = {name: value for name, value in os.environ.items() if name not in POOLS}
        paths = [str(environments.ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
        settings = {"PYTHONPATH": os.pathsep.join(paths), "PYTHONNOUSERSITE": "1", "JAX_PLATFORMS": "cpu"}
        self.process = subprocess.Popen(
            [python, "-m", "benchmarks.workers", core, str(MEGABYTES)],
            cwd=environments.ROOT, env=clean | settings | thread_settings(threads), start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def ask(self, task: dict[str, Any], timeout: float) -> dict[str, Any]:
        """The result of a task; `status` is "ok" or the reason why there is none. Not "ok" may end the process."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(task).encode() + b"\n")
            self.process.stdin.flush()
        line = self._line(timeout)
        if line is None:
            self.end()
            return {"status": f"over {timeout:.0f} s"}
        if not line:
            code = self.process.wait()
            self.end()
            return {"status": f"failed: the process ended with code {code}"}
        return json.loads(line)

    def _line(self, timeout: float) -> bytes | None:
        """A line of output: None if it does not come in time, empty if the process has ended."""
        assert self.process.stdout is not None
        found, last = b"", time.monotonic() + timeout
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while not found.endswith(b"\n"):
                if not selector.select(max(0, last - time.monotonic())):
                    return None
                part = os.read(self.process.stdout.fileno(), 1 << 16)
                if not part:
                    return b""
                found += part
        return found

    @property
    def running(self) -> bool:
        """Whether it can be asked."""
        return self.process.poll() is None

    def end(self) -> None:
        """End the process, and those it has started (R)."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()


class Workers:
    """The workers of a run, by interpreter and threads."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, int | None], Worker] = {}
        self.interpreters: dict[str, str | None] = {}
        atexit.register(self.end)

    def interpreter(self, library: str) -> str | None:
        """The interpreter of a library, looked up once."""
        if library not in self.interpreters:
            self.interpreters[library] = environments.interpreter(library)
        return self.interpreters[library]

    def ask(
        self, library: str, task: dict[str, Any], *, threads: int | None = 1, timeout: float = 120, fresh: bool = False
    ) -> dict[str, Any]:
        """The result of a task, in a process that has run nothing else if `fresh`."""
        python = self.interpreter(library)
        if python is None:
            return {"status": environments.missing(library)}
        key = (python, threads)
        if key in self.found and (fresh or not self.found[key].running):
            self.found.pop(key).end()
        if key not in self.found:
            self.found[key] = Worker(python, threads)
            self.found[key].ask({"operation": "versions", "packages": []}, 300)  # the start is not the task's time
        return self.found[key].ask({**task, "library": library}, timeout)

    def end(self) -> None:
        """End all processes."""
        while self.found:
            self.found.popitem()[1].end()
        atexit.unregister(self.end)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
