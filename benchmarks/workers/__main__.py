"""The loop of a worker: a task per line in, a result per line out, both JSON; an error is a result too.

Arguments: the core to stay on ("-" for all) and the largest memory in megabytes.
"""

import json
import os
import resource
import sys
import warnings
from typing import Any


def main() -> None:
    """Read, run, write, until the input ends."""
    core, megabytes = sys.argv[1], int(sys.argv[2])
    if core != "-" and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {int(core)})
    resource.setrlimit(resource.RLIMIT_DATA, (megabytes * 2**20, megabytes * 2**20))
    results = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints must not be among the results
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        results.write(json.dumps(run(json.loads(line))) + "\n")
        results.flush()


def run(task: dict[str, Any]) -> dict[str, Any]:
    """The result of a task; an error gives its type and the beginning of its message."""
    from benchmarks.workers.operations import OPERATIONS

    try:
        return {"status": "ok", **OPERATIONS[task["operation"]](task)}
    except NotImplementedError as error:
        return {"status": f"not offered: {error}"}
    except MemoryError:
        return {"status": "failed: out of memory"}
    except Exception as error:
        message = " ".join(str(error).split())
        if "allocate" in message or "memory" in message.lower():
            return {"status": "failed: out of memory"}
        return {"status": f"failed: {type(error).__name__}: {message[:160]}"}


if __name__ == "__main__":
    main()
