"""Versions of this package and of what it uses, for bug reports."""

import platform
from importlib.metadata import PackageNotFoundError, version

PACKAGES = (
    "lvq", "scikit-learn", "numpy", "scipy", "numba", "joblib", "threadpoolctl", "torch", "pandas", "pyarrow",
    "matplotlib", "onnx", "skl2onnx", "onnxruntime",
)  # fmt: skip


def versions() -> dict[str, str]:
    """Version of each package; "not installed" for missing extras."""
    found = {"python": platform.python_version(), "platform": platform.platform()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def show_versions() -> None:
    """Print the versions of Python, this package and its dependencies.

    Examples
    --------
    >>> import lvq
    >>> lvq.show_versions()  # doctest: +ELLIPSIS
    python: ...
    """
    for name, value in versions().items():
        print(f"{name}: {value}")
