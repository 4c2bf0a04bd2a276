"""Shell completion: names of models and kernels; imports no heavy module at start."""

from __future__ import annotations

from lvq.estimators.registry import ESTIMATORS, short_name


def complete_model(incomplete: str) -> list[str]:
    """Names of models that begin with a text.

    Examples
    --------
    >>> complete_model("gm")
    ['gmlvq']
    """
    return [name for name in map(short_name, ESTIMATORS) if name.startswith(incomplete.lower())]


def complete_kernel(incomplete: str) -> list[str]:
    """Names of kernels that begin with a text.

    Examples
    --------
    >>> complete_kernel("ga")
    ['gaussian']
    """
    from lvq.model.links import KERNELS

    return [name for name in (*KERNELS, "none") if name.startswith(incomplete.lower())]
