"""Training from a Parquet set larger than memory: rows per second beside memory, and the peak of memory.

`python -m benchmarks.stream FOLDER --gigabytes 8` writes the set into FOLDER, trains on it in a process of its own, on
a part of it in memory in others before and after, and writes benchmarks/results/stream.json. The set is removed at the
end. Products use one thread. The files are removed from the system's cache before each run, so that at least the first
pass reads them from the disk. Memory is the peak of resident pages of the process (VmHWM), in MB of 10^6 bytes.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

N_FEATURES, N_CLASSES, PART_ROWS, FILE_ROWS = 32, 10, 100_000, 2_000_000
MEMORY_ROWS, BATCH_ROWS = 1_000_000, 4096
RESULT = Path(__file__).parent / "results" / "stream.json"


def make_set(folder: Path, gigabytes: float) -> int:
    """Write Parquet files of normal classes, uncompressed; returns the number of rows."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = int(gigabytes * 1e9 / (8 * N_FEATURES + 8))
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(N_CLASSES, N_FEATURES))
    names = [f"x{place}" for place in range(N_FEATURES)]
    schema = pa.schema([*((name, pa.float64()) for name in names), ("class", pa.int64())])
    written = 0
    while written < rows:
        path = folder / f"part{written // FILE_ROWS:03d}.parquet"
        with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
            for _ in range(FILE_ROWS // PART_ROWS):
                y = rng.integers(N_CLASSES, size=PART_ROWS)
                X = centres[y] + 1.5 * rng.standard_normal((PART_ROWS, N_FEATURES))
                writer.write_table(pa.table([*X.T, y], schema=schema), row_group_size=PART_ROWS)
                written += PART_ROWS
    return written


def model() -> Any:
    """What is trained."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from lvq import GLVQ

    return make_pipeline(StandardScaler(), GLVQ(n_prototypes=2, solver="online", max_iter=1, random_state=0))


def timed(function: Callable[[], object]) -> dict:
    """Seconds of a call, and the peak of memory of the process in MB."""
    wall, cpu = time.perf_counter(), time.process_time()
    function()
    seconds = {"wall_seconds": time.perf_counter() - wall, "cpu_seconds": time.process_time() - cpu}
    return seconds | {"peak_mb": peak_mb()}


def peak_mb() -> float:
    """Peak of the resident memory of this process; unlike ru_maxrss it holds nothing of the process that started it."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024 / 1e6


def uncache(paths: list[Path]) -> None:
    """Remove files from the system's cache."""
    for path in paths:
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def warmed() -> None:
    """Load all packages and compiled loops."""
    import numpy as np

    model().fit(np.random.default_rng(0).normal(size=(100, N_FEATURES)), np.arange(100) % 2)


def from_files(folder: Path) -> dict:
    """Train on all files."""
    import lvq

    warmed()
    before = peak_mb()
    paths = sorted(folder.glob("*.parquet"))
    uncache(paths)
    fitted = model()
    result = timed(lambda: lvq.fit_batches(fitted, paths, target="class", classes=range(N_CLASSES)))
    X, y = first_rows(folder, 100_000)
    return result | {"peak_before_mb": before, "accuracy": fitted.score(X, y)}


def in_memory(folder: Path) -> dict:
    """Fit the first rows, which are read before."""
    warmed()
    X, y = first_rows(folder, MEMORY_ROWS)
    fitted = model()
    return timed(lambda: fitted.fit(X, y)) | {"rows": len(y), "accuracy": fitted.score(X[:100_000], y[:100_000])}


def batches_in_memory(folder: Path) -> dict:
    """The same passes as from files, by the same batches, of an array in memory."""
    import numpy as np

    warmed()
    X, y = first_rows(folder, MEMORY_ROWS)
    X, (scaler, last) = X.to_numpy(), model()

    def train() -> None:
        scaler.fit(X)
        for begin in range(0, len(X), BATCH_ROWS):
            part = slice(begin, begin + BATCH_ROWS)
            last.partial_fit(scaler.transform(X[part]), y[part], classes=np.arange(N_CLASSES))

    return timed(train) | {"rows": len(y), "accuracy": last.score(scaler.transform(X[:100_000]), y[:100_000])}


PARTS: dict[str, Callable[[Path], dict]] = {
    "memory": in_memory,
    "batches_in_memory": batches_in_memory,
    "files": from_files,
}


def first_rows(folder: Path, count: int) -> tuple:
    """Rows of the first file."""
    import pyarrow.parquet as pq

    file = pq.ParquetFile(folder / "part000.parquet")
    frame = file.read_row_groups(range(count // PART_ROWS)).to_pandas()
    return frame.drop(columns="class"), frame["class"].to_numpy()


def main() -> None:
    """Make the set, run both, write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--gigabytes", type=float, default=8)
    parser.add_argument("--part", choices=list(PARTS))
    arguments = parser.parse_args()
    if arguments.part:
        print(json.dumps(PARTS[arguments.part](arguments.folder)))
        return
    arguments.folder.mkdir(parents=True)
    rows = make_set(arguments.folder, arguments.gigabytes)
    size = sum(path.stat().st_size for path in arguments.folder.iterdir())
    parts = {part: run_part(arguments.folder, part) for part in PARTS}
    parts["files"]["rows"] = rows
    parts |= {f"{part}_again": run_part(arguments.folder, part) for part in PARTS if part != "files"}
    for part in parts.values():
        part["rows_per_cpu_second"] = part["rows"] / part["cpu_seconds"]
        part["rows_per_second"] = part["rows"] / part["wall_seconds"]
    result = {
        "set": {"rows": rows, "features": N_FEATURES, "classes": N_CLASSES, "bytes": size},
        "model": "StandardScaler, GLVQ(n_prototypes=2), one training pass",
        "python": platform.python_version(),
        "cpus": os.cpu_count(),
        **parts,
    }
    RESULT.write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(result, indent=2))
    for path in arguments.folder.iterdir():
        path.unlink()
    arguments.folder.rmdir()


def run_part(folder: Path, part: str) -> dict:
    """Run one part in a process of its own, with one thread for products."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    command = [sys.executable, "-m", "benchmarks.stream", str(folder), "--part", part]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | threads)
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
