"""Versions of this package and of what it uses, for bug reports; packages that need not be installed."""

import platform
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType

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


def need(module: str, extra: str, purpose: str) -> ModuleType:
    """Import a module that is needed for a purpose; where it is missing, the error names the extra that installs it."""
    try:
        return import_module(module)
    except ImportError as error:
        missing = (error.name or module).partition(".")[0]
        raise ModuleNotFoundError(
            f'{purpose} needs {missing}, which is not installed: pip install "lvq[{extra}]".', name=missing
        ) from None


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
