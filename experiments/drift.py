"""Streams that drift: accuracy on each batch before it is learned, beside SGDClassifier and GaussianNB.

`python -m experiments.drift` writes experiments/results/drift.json. Streams of two features and two classes, each of
one cluster (which a linear model can separate at any time) or of two opposite ones (which it cannot):

- moving: the centres of the clusters move around a circle, half a turn in all;
- sudden: after half of the batches the clusters turn by a right angle at once, and jump to another place.

All models see each batch once, by `partial_fit`; numbers are means over seeds.
"""

import json
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB

import lvq
from lvq.streaming.drift import reseed_idle

N_BATCHES, ROWS, SEEDS = 200, 50, 5
RESULT = Path(__file__).parent / "results" / "drift.json"
RESEED_AFTER = 200


def batch(centres: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows of two classes; `centres` has the shape (classes, clusters, features)."""
    y, cluster = rng.integers(2, size=ROWS), rng.integers(centres.shape[1], size=ROWS)
    return centres[y, cluster] + 0.5 * rng.normal(size=(ROWS, 2)), y


def on_circle(angle: float, clusters: int) -> np.ndarray:
    """Clusters at equal distances, of the classes in turn."""
    angles = angle + np.pi / clusters * np.arange(2 * clusters).reshape(clusters, 2).T
    return 2 * np.stack([np.cos(angles), np.sin(angles)], axis=-1)


def moving(clusters: int, rng: np.random.Generator) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The clusters turn slowly."""
    for number in range(N_BATCHES):
        yield batch(on_circle(np.pi * number / N_BATCHES, clusters), rng)


def sudden(clusters: int, rng: np.random.Generator) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """All clusters turn by a right angle and jump at half of the time."""
    for number in range(N_BATCHES):
        late = number >= N_BATCHES // 2
        yield batch(on_circle(np.pi / 2 * late, clusters) + np.array([8.0 * late, 0.0]), rng)


class Reseeded(lvq.GLVQ):
    """GLVQ whose idle prototypes are reseeded after each batch, as `fit_batches(reseed_after=...)` does."""

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> "Reseeded":
        """One batch."""
        super().partial_fit(X, y, classes, sample_weight)
        draws = np.random.RandomState(self.n_iter_)
        self.idle = reseed_idle(self, X, y, getattr(self, "idle", []), RESEED_AFTER, draws)
        return self


MODELS: dict[str, Callable[[int], Any]] = {
    "GLVQ, constant rate": lambda seed: lvq.GLVQ(n_prototypes=2, schedule="constant", random_state=seed),
    "GLVQ, constant rate, idle prototypes reseeded": lambda seed: Reseeded(
        n_prototypes=2, schedule="constant", random_state=seed
    ),
    "GLVQ, falling rate": lambda seed: lvq.GLVQ(n_prototypes=2, schedule="inverse", random_state=seed),
    "SGDClassifier": lambda seed: SGDClassifier(random_state=seed),
    "SGDClassifier, constant rate": lambda seed: SGDClassifier(learning_rate="constant", eta0=0.1, random_state=seed),
    "GaussianNB": lambda seed: GaussianNB(),
}


def accuracies(model: Any, stream: Iterator[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Accuracy on each batch but the first, before the model learns it."""
    found = []
    for number, (X, y) in enumerate(stream):
        if number:
            found.append(np.mean(model.predict(X) == y))
        model.partial_fit(X, y, classes=[0, 1])
    return np.array(found)


def summary(runs: np.ndarray) -> dict[str, float]:
    """Mean accuracies of parts of the stream; one row of `runs` for each seed."""
    half, quarter = N_BATCHES // 2, N_BATCHES // 4
    last = runs[:, -quarter:].mean(axis=1)
    means = {
        "all": runs.mean(),
        "first_half": runs[:, : half - 1].mean(),
        "10_batches_after_the_middle": runs[:, half - 1 : half + 9].mean(),
        "last_quarter": last.mean(),
        "last_quarter_lowest_seed": last.min(),
    }
    return {name: round(float(mean), 4) for name, mean in means.items()}


def main() -> None:
    """Run all models on all streams."""
    result: dict[str, dict[str, dict[str, float]]] = {}
    for stream, clusters in product((moving, sudden), (1, 2)):
        title = f"{stream.__name__}, clusters of each class: {clusters}"
        result[title] = {}
        for name, make in MODELS.items():
            streams = [stream(clusters, np.random.default_rng(seed)) for seed in range(SEEDS)]
            runs = np.array([accuracies(make(seed), streams[seed]) for seed in range(SEEDS)])
            result[title][name] = summary(runs)
            print(title, name, result[title][name], flush=True)
    settings = {"batches": N_BATCHES, "rows": ROWS, "seeds": SEEDS, "reseed_after": RESEED_AFTER}
    RESULT.write_text(json.dumps({"settings": settings, "accuracy": result}, indent=2) + "\n")


if __name__ == "__main__":
    main()
