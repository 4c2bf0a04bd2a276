"""Fits of all settings on the 28 sets of the development pool, for `experiments.leave_one_set_out`.

`python -m experiments.pool_fits FOLDER [--jobs 16] [--sets NAME ...] [--only TEXT] [--seconds 520]` needs `LVQ_DATA`,
the folder of the pool: of each set at most 1,200 rows, drawn once; text columns one-hot encoded. A cell is one of 5
outer folds of one set with those settings that share their start, or with the models of scikit-learn. Features are
scaled to unit variance on the training part. Each setting is fitted there, and in 5 inner folds by the short fits of
`LVQClassifierCV`, whose scores of every validation sample are stored: rules of selection can be compared without
another fit. Finished cells are stored at once, one JSON object a line, in FOLDER/SET.jsonl; a stopped run goes on.
"""

import argparse
import base64
import json
import os
import pathlib
import time
import warnings
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from benchmarks.data import POOL_FILES, POOL_NAMED, pool_rows
from experiments.pool_settings import SVC_GRID, others, settings
from lvq import LVQClassifier
from lvq.estimators.short_fits import begin, make_fold, share_start
from lvq.model.scores import fitted_temperature, tempered

POOL = POOL_NAMED + POOL_FILES
OUTER, INNER = 5, 5
MIN_PROBABILITY = 1e-6  # in a log-likelihood
EARLY, LATE, EARLY_FOLDS = 10, 30, 2  # iterations of the short fits when they are scored, and folds of the first score
#: Sets that take longest, the longest first; they are started first.
SLOW = ("digits", "spambase", "german", "segment", "tecator", "vehicle", "led7digit", "contraceptive", "sonar")

Cell = tuple[str, int, tuple[str, ...]]


def pack(values: np.ndarray) -> str:
    """Numbers as text: half precision, compressed."""
    return base64.b64encode(zlib.compress(values.astype(np.float16).tobytes(), 9)).decode()


def unpack(text: str) -> np.ndarray:
    """What `pack` was given, in half precision."""
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype=np.float16).astype(np.float64)


def groups() -> list[tuple[str, ...]]:
    """Names of settings that share their start; () are the models of scikit-learn."""
    table, parts = settings(), list[list[str]]()
    for name, params in table.items():
        same = parts and share_start(LVQClassifier(**table[parts[-1][0]]), LVQClassifier(**params))
        if same:
            parts[-1].append(name)
        else:
            parts.append([name])
    return [(), *map(tuple, parts)]


def split(dataset: str, fold: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Training and test part of an outer fold, scaled on the first."""
    X, y = pool_rows(dataset)
    train, test = list(StratifiedKFold(OUTER, shuffle=True, random_state=seed).split(X, y))[fold]
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]


def inner_folds(y: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Inner folds, as `LVQClassifierCV` makes them."""
    return list(StratifiedKFold(INNER).split(y, y))


def cell(dataset: str, fold: int, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """The rows of one cell: one for each setting or model."""
    data = split(dataset, fold)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a default is taken as it is
        rows = list(_settings(names, *data) if names else _others(*data))
    return [{"dataset": dataset, "fold": fold} | row for row in rows]


def _others(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray) -> Iterator[dict[str, Any]]:
    for name, model in others(X.shape[1]).items():
        start = time.process_time()
        model.fit(X, y)
        seconds = time.process_time() - start
        yield {"name": name, "seconds": seconds, "accuracy": float(np.mean(model.predict(X_test) == y_test))}


def _settings(
    names: tuple[str, ...], X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray
) -> Iterator[dict[str, Any]]:
    models = [LVQClassifier(random_state=0, calibration=None, **settings()[name]) for name in names]
    inner = _inner(models, X, y)
    for name, model, short in zip(names, models, inner):
        start = time.process_time()
        model.fit(X, y)
        row: dict[str, Any] = {"name": name, "seconds": time.process_time() - start, "n_iter": model.n_iter_}
        row["prototypes"] = len(model.prototypes_) / len(model.classes_)
        row["accuracy"] = float(np.mean(model.predict(X_test) == y_test))
        raw = model.predict_proba(X_test)
        sharp = tempered(raw, short["temperature"])
        row["losses"] = [round(float(-log_of_true(part, y_test).mean()), 5) for part in (raw, sharp)]
        row["top"] = pack(np.concatenate([raw.max(axis=1), sharp.max(axis=1)]))
        row["correct"] = pack(raw.argmax(axis=1) == y_test)
        yield row | short


def _inner(models: Sequence[LVQClassifier], X: np.ndarray, y: np.ndarray) -> list[dict[str, Any]]:
    """Scores of every sample in the inner folds, by the short fits of the search."""
    splits, n_classes = inner_folds(y), int(y.max()) + 1
    folds = [make_fold(X, y, np.ones(len(y)), train, test) for train, test in splits]
    start = time.process_time()
    fits = [begin(models, fold) for fold in folds]
    begun = (time.process_time() - start) / len(models)
    rows = []
    for number in range(len(models)):
        row: dict[str, Any] = {"seconds_start": begun}
        for key, iterations, n_folds in (("early", EARLY, EARLY_FOLDS), ("late", LATE, INNER)):
            start = time.process_time()
            table = np.zeros((len(y), n_classes))
            for (_, test), fit in zip(splits[:n_folds], fits[:n_folds]):
                fit[number].advance(iterations)
                present = fit[number].fold.classes.astype(int)
                table[test[:, None], present] = fit[number].model.predict_proba(X[test])
            used = np.concatenate([test for _, test in splits[:n_folds]])
            row[f"seconds_{key}"] = time.process_time() - start
            logarithms = np.log(np.maximum(table[used], 1e-12))
            row["temperature"] = fitted_temperature(logarithms, y[used], np.ones(len(used)))
            row[f"{key}_raw"] = pack(log_of_true(table[used], y[used]))
            row[f"{key}_calibrated"] = pack(log_of_true(tempered(table[used], row["temperature"]), y[used]))
            row[f"{key}_correct"] = pack(table[used].argmax(axis=1) == y[used])
        rows.append(row)
    return rows


def log_of_true(probabilities: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Logarithm of the probability of each sample's class."""
    return np.log(np.maximum(probabilities[np.arange(len(y)), y], MIN_PROBABILITY))


def stored(folder: pathlib.Path) -> list[dict[str, Any]]:
    """All rows in a folder of results."""
    lines = (line for path in sorted(folder.glob("*.jsonl")) for line in path.read_text().splitlines())
    return [json.loads(line) for line in lines]


def missing(folder: pathlib.Path, sets: Sequence[str], only: str) -> list[Cell]:
    """Cells that are not stored, those of slow sets first; all settings of a fold before the next fold."""
    done = {(row["dataset"], row["fold"], row["name"]) for row in stored(folder)}
    order = [*(name for name in SLOW if name in sets), *(name for name in sets if name not in SLOW)]
    chosen = [part for part in groups() if only in (" ".join(part) or SVC_GRID)]
    cells = [(name, fold, part) for fold in range(OUTER) for part in chosen for name in order]
    return [item for item in cells if (*item[:2], item[2][-1] if item[2] else SVC_GRID) not in done]


def measure(folder: pathlib.Path, sets: Sequence[str], jobs: int, only: str, seconds: float) -> None:
    """Compute what is missing, in processes; no cell is started after so many seconds."""
    folder.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + seconds
    todo = missing(folder, sets, only)
    print(f"{len(todo)} cells", flush=True)
    pending = (delayed(cell)(*item) for item in todo if time.monotonic() < end)
    for number, rows in enumerate(Parallel(n_jobs=jobs, return_as="generator_unordered", pre_dispatch=jobs)(pending)):
        with (folder / f"{rows[0]['dataset']}.jsonl").open("a") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
        if number % 100 == 0:
            print(f"{number} cells done, {end - time.monotonic():.0f} s left", flush=True)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--sets", nargs="*", default=POOL)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="", help="settings whose name contains this")
    parser.add_argument("--seconds", type=float, default=np.inf)
    arguments = parser.parse_args()
    measure(arguments.folder, arguments.sets, arguments.jobs, arguments.only, arguments.seconds)


if __name__ == "__main__":
    main()
