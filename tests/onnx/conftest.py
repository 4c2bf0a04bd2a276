"""A runtime for graphs, and data to run them on."""

import numpy as np
import pytest


@pytest.fixture(scope="session")
def run():
    """A function that runs a graph on samples: an array, or a dict of columns."""
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")

    def outputs(graph, X):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(graph.SerializeToString(), options, providers=["CPUExecutionProvider"])
        given = X if isinstance(X, dict) else {"X": X}
        names = [output.name for output in session.get_outputs()]
        return dict(zip(names, session.run(None, given)))

    return outputs


@pytest.fixture(scope="session")
def data():
    """Three overlapping classes, four features of which the last is noise, far from the origin."""
    rng = np.random.default_rng(7)
    y = np.arange(90) % 3
    centres = np.array([[0.0, 0.0, 1.0, 0.0], [2.5, 0.0, 0.0, 0.0], [0.0, 2.5, -1.0, 0.0]]) + 3
    return centres[y] + rng.normal(size=(90, 4)), np.array(["ash", "birch", "cedar"])[y]
