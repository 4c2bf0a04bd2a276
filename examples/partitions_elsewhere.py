"""The partition function on Spark (`mapInPandas`) and Ray Data: workers compute value and gradient, L-BFGS runs here.

Run `python examples/partitions_elsewhere.py spark` or `ray`; install that package first. The rows are a data frame with
the class in the column "label" and the number of the partition in "part"; only parameters and sums are sent. dask needs
no such code: see docs/guide/large.md.
"""

import os
import pickle
import sys
from collections.abc import Callable, Iterator
from functools import reduce
from operator import add

import numpy as np
import pandas as pd
from scipy.optimize import minimize

from lvq.model.costs import GLVQCost
from lvq.model.links import Identity
from lvq.model.metrics import Euclidean
from lvq.model.objective import Objective, Params, PartialSum
from lvq.model.prototype_model import PrototypeModel
from lvq.model.samples import ArraySamples
from lvq.model.scores import DecisionRule

FEATURES = ["a", "b", "c"]
Sums = Callable[[Callable[[pd.DataFrame], pd.DataFrame]], pd.DataFrame]


def partition_function(objective: Objective, W: np.ndarray) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """A function of the rows of a partition: its number, and value and gradient as bytes."""

    def evaluate(rows: pd.DataFrame) -> pd.DataFrame:
        samples = ArraySamples(rows[FEATURES].to_numpy(), rows["label"].to_numpy(), np.ones(len(rows)))
        total = objective.total(Params(W), samples)
        return pd.DataFrame({"part": [int(rows["part"].iloc[0])], "sum": [pickle.dumps(total)]})

    return evaluate


def fit(run: Sums, W: np.ndarray, labels: np.ndarray, n_samples: int) -> np.ndarray:
    """Prototypes by L-BFGS on this machine; `run` applies a function to every partition where it lies."""
    objective = Objective(Euclidean(), Identity(), GLVQCost(), labels)

    def value_and_gradient(vector: np.ndarray) -> tuple[float, np.ndarray]:
        found = run(partition_function(objective, vector.reshape(W.shape))).sort_values("part")  # a fixed order
        total: PartialSum = reduce(add, map(pickle.loads, found["sum"]))
        return float(total.value) / n_samples, total.gradient.prototypes.ravel() / n_samples

    return minimize(value_and_gradient, W.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 10}).x.reshape(
        W.shape
    )


def on_spark(frame: pd.DataFrame, n_partitions: int) -> Sums:
    """`mapInPandas` on a local Spark session of two cores."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    rows = spark.createDataFrame(frame).repartitionByRange(n_partitions, "part").cache()

    def run(function: Callable[[pd.DataFrame], pd.DataFrame]) -> pd.DataFrame:
        def whole(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
            found = list(batches)  # Spark hands a partition over in batches; one that is empty has none
            for _, rows in pd.concat(found).groupby("part") if found else ():
                yield function(rows)

        return rows.mapInPandas(whole, "part long, sum binary").toPandas()

    return run


def on_ray(frame: pd.DataFrame, n_partitions: int) -> Sums:
    """`map_batches` of Ray Data, a block for each partition."""
    import ray

    ray.init(num_cpus=2, include_dashboard=False)
    rows = ray.data.from_pandas([part for _, part in frame.groupby("part")]).materialize()

    def run(function: Callable[[pd.DataFrame], pd.DataFrame]) -> pd.DataFrame:
        return rows.map_batches(function, batch_size=None, batch_format="pandas").to_pandas()

    return run


def main(where: str, n_partitions: int = 4) -> None:
    """Fit there and in memory, and compare."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=2000)
    X = rng.normal(size=(2000, 3)) + y[:, None]
    frame = pd.DataFrame(X, columns=FEATURES).assign(label=y, part=np.arange(2000) * n_partitions // 2000)
    W, labels = np.stack([X[y == 0].mean(0), X[y == 1].mean(0)]), np.array([0, 1])

    def in_memory(function: Callable[[pd.DataFrame], pd.DataFrame]) -> pd.DataFrame:
        return pd.concat([function(part) for _, part in frame.groupby("part")])

    run = {"spark": on_spark, "ray": on_ray}[where](frame, n_partitions)
    found, expected = fit(run, W, labels, len(X)), fit(in_memory, W, labels, len(X))
    print(f"{where}: largest difference from the fit in memory {np.abs(found - expected).max():.1e}")
    model = PrototypeModel(found, labels, np.array([0, 1]), Euclidean(), None, Identity(), DecisionRule())
    print(f"accuracy {(model.classes[model.decide(model.distances(X))] == y).mean():.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
