"""The installed package does its work, without a network: `python smoke.py [EXTRA]`.

It needs nothing but the package, and the extra that is named. Every attempt to reach a network raises an error.
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lvq import GMLVQ

NETWORK = {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "urllib.Request"}


def refuse_network(event: str, arguments: tuple[object, ...]) -> None:
    """An audit hook: raise where Python connects a socket or looks up a host."""
    if event in NETWORK:
        raise RuntimeError(f"the network was used: {event} {arguments}")


def base(folder: Path) -> None:
    """Fit, predict, reject, certify, explain, save and load."""
    import numpy as np
    from sklearn.datasets import load_iris
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    import lvq

    X, y = load_iris(return_X_y=True)
    for model in (lvq.LVQClassifier(random_state=0), lvq.GMLVQ(random_state=0), lvq.LVQ1(random_state=0)):
        pipeline = make_pipeline(StandardScaler(), model).fit(X, y)
        assert pipeline.score(X, y) > 0.85, model
        lvq.save(pipeline, folder / "model.lvq")
        assert (lvq.load(folder / "model.lvq").predict(X) == pipeline.predict(X)).all()
        assert (lvq.certified_radius(pipeline[-1], pipeline[:-1].transform(X)) >= 0).all()
        assert np.isfinite(lvq.explain(pipeline, X[:5]).contributions).all()
    rejecting = lvq.RejectClassifier(lvq.GLVQ(random_state=0), min_coverage=0.8).fit(X, y)
    assert rejecting.coverage(X) > 0.6


def plot(folder: Path) -> None:
    """A figure as a file."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from lvq.plots import PrototypeDisplay

    PrototypeDisplay.from_estimator(_model())
    plt.savefig(folder / "figure.png")
    assert (folder / "figure.png").stat().st_size > 1000


def onnx(folder: Path) -> None:
    """A graph that onnx accepts."""
    import onnx

    from lvq.onnx import to_onnx

    onnx.checker.check_model(to_onnx(_model()))


def dask(folder: Path) -> None:
    """Samples in partitions give the model of the array."""
    import dask.array as da
    import numpy as np

    import lvq

    X, y = _samples()
    parts = lvq.GLVQ(random_state=0).fit(da.from_array(X, chunks=(50, 4)), da.from_array(y, chunks=50))
    np.testing.assert_allclose(parts.prototypes_, lvq.GLVQ(random_state=0).fit(X, y).prototypes_, rtol=1e-6)


def gpu(folder: Path) -> None:
    """Tensors in, tensors out; on the processor where there is no GPU."""
    import torch

    import lvq

    X, y = (torch.as_tensor(values) for values in _samples())
    predicted = lvq.GLVQ(random_state=0).fit(X, y).predict(X)
    assert (torch.as_tensor(predicted) == y).double().mean() > 0.85


def report(folder: Path) -> None:
    """A page as a file."""
    import lvq

    lvq.report(_model(), *_samples(), folder / "report.html")
    assert "<html" in (folder / "report.html").read_text(encoding="utf-8")


def cli(folder: Path) -> None:
    """The commands `lvq demo`, which fits, evaluates and writes a report, and `lvq --help`."""
    from lvq.cli import main

    for arguments in (["--help"], ["demo", "--out", str(folder / "demo")]):
        sys.argv = ["lvq", *arguments]
        try:
            main()
        except SystemExit as error:
            if error.code:
                raise
    assert (folder / "demo" / "report.html").exists()


def excel(folder: Path) -> None:
    """A table of a spreadsheet."""
    from openpyxl import Workbook

    from lvq.tables.read import open_table

    book = Workbook()
    book.active.append(["width", "class"])
    book.active.append([1.5, "a"])
    book.save(folder / "table.xlsx")
    assert open_table(folder / "table.xlsx").frame().shape == (1, 2)


def every(folder: Path) -> None:
    """All that the extra "all" brings."""
    for check in (plot, onnx, report, cli, excel):
        check(folder)


CHECKS: dict[str, Callable[[Path], None]] = {
    "base": base, "plot": plot, "onnx": onnx, "dask": dask, "gpu": gpu, "report": report, "cli": cli, "excel": excel,
    "all": every,
}  # fmt: skip


def _samples() -> "tuple[NDArray[np.float64], NDArray[np.intp]]":
    from sklearn.datasets import load_iris

    return load_iris(return_X_y=True)


def _model() -> "GMLVQ":
    import lvq

    return lvq.GMLVQ(random_state=0).fit(*_samples())


if __name__ == "__main__":
    sys.addaudithook(refuse_network)
    with tempfile.TemporaryDirectory() as name:
        for extra in ["base", *sys.argv[1:]]:
            CHECKS[extra](Path(name))
    import lvq

    lvq.show_versions()
