"""The inputs of a graph: one array of all features, or one array per column where their types differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.compose import ColumnTransformer

from lvq.estimators.find_model import FoundModel
from lvq.inspection.columns import input_blocks
from lvq.inspection.steps import Step, adapter

if TYPE_CHECKING:
    from onnx import GraphProto


OUTPUTS = ("label", "probabilities", "certainty", "accepted")


class Inputs(NamedTuple):
    """Names and kinds ("number", "integer" or "text") of the inputs, and the number of features of each."""

    names: list[str]
    kinds: list[str]
    widths: list[int]


def inputs_of(found: FoundModel) -> Inputs:
    """The inputs of a chain of transformers and a model; one array "X" where all features have one kind."""
    first = found.steps[0] if found.steps else found.estimator
    if not hasattr(first, "n_features_in_"):  # takes no table: CountVectorizer and the like
        raise ValueError(
            f"to_onnx needs steps that take tables, got {type(first).__name__}; transform X with that step first, and "
            "pass the rest of the pipeline."
        )
    kinds, blocks = ["number"] * int(first.n_features_in_), input_blocks(found)[0]
    read = {column for block in blocks for column in block.columns.tolist()}
    for block in blocks:
        for place, column in enumerate(block.columns.tolist() if block.steps else []):
            kind = _kind(block.steps[0], place)
            if kinds[column] not in ("number", kind):
                raise ValueError(
                    f"to_onnx needs one type for each column, but column {column} is {kinds[column]} to one "
                    f"transformer and {kind} to {type(block.steps[0]).__name__}. Give each its own copy of the column."
                )
            kinds[column] = kind if kind != "number" else kinds[column]
    dropped = isinstance(first, ColumnTransformer) and hasattr(first, "feature_names_in_") and len(read) < len(kinds)
    if len(set(kinds)) == 1 and not dropped:  # a dropped column may hold strings, which cannot be in X
        return Inputs(["X"], kinds[:1], [len(kinds)])
    if not isinstance(first, ColumnTransformer):
        raise ValueError(
            f"to_onnx needs a ColumnTransformer where columns differ in type; {type(first).__name__} takes "
            f"{', '.join(sorted(set(kinds)))} columns at once."
        )
    names = [str(name) for name in getattr(first, "feature_names_in_", [f"x{place}" for place in range(len(kinds))])]
    taken = sorted(set(names) & set(OUTPUTS))
    if taken:
        raise ValueError(
            f"to_onnx has an output {taken[0]!r}, so no column may have that name; rename it and fit again."
        )
    return Inputs(names, kinds, [1] * len(kinds))


def _kind(step: Step, place: int) -> str:
    if not adapter(step).encodes:  # a SimpleImputer holds numbers as objects too
        statistics = getattr(step, "statistics_", np.zeros(place + 1))
        return "text" if isinstance(statistics[place], str) else "number"
    kind = step.categories_[place].dtype.kind
    return "text" if kind in "OUS" else "integer" if kind in "iu" else "number"


def name_inputs(graph: GraphProto, names: list[str]) -> None:
    """Set the names of the inputs, in their order; other values of the graph with such a name get another one.

    skl2onnx changes names that are not identifiers in C, such as "weight (kg)"; runtimes accept them.
    """
    inner = {name for node in graph.node for name in node.output} | {tensor.name for tensor in graph.initializer}
    changed = {name: f"inner_{name}" for name in inner & set(names)}
    changed |= {f"input{place}": name for place, name in enumerate(names)}
    for node in graph.node:
        for values in (node.input, node.output):
            values[:] = [changed.get(name, name) for name in values]
    for value in (*graph.input, *graph.initializer, *graph.value_info):
        value.name = changed.get(value.name, value.name)
