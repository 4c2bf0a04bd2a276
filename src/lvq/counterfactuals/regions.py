"""The regions of a model's space where a prototype wins, and where the prediction is accepted."""

from __future__ import annotations

import numpy as np

from lvq.counterfactuals.shortest_moves import Region
from lvq.linear_maps import Floats
from lvq.model.prototype_model import PrototypeModel
from lvq.rejection.classifier import RejectClassifier


def class_regions(model: PrototypeModel) -> list[Region]:
    """Where each prototype is nearer than all of other classes."""
    others = [np.flatnonzero(model.labels != label) for label in model.labels]
    return [Region(t, rivals, np.zeros(len(rivals)), rivals) for t, rivals in enumerate(others)]


def accepted_regions(reject: RejectClassifier, model: PrototypeModel, prototypes: Floats) -> list[Region]:
    """Where each prototype wins and the prediction is accepted."""
    parts = reject.measure_
    if parts.ambiguity not in ("relsim", "boundary", "distance") or parts.outlier not in (None, "distance"):
        raise ValueError(
            "counterfactual supports the measures 'relsim', 'boundary', 'distance' and their combinations, got "
            f"{parts.ambiguity!r} with {parts.outlier!r}; fit the RejectClassifier with one of these."
        )
    regions, labels = [], model.classes[model.labels].tolist()
    for region in class_regions(model):
        t = region.prototype
        label = labels[t]
        cell = label if reject.cells_ == "class" else t
        threshold = float(reject.threshold_of([cell])[0])
        limits = reject.outlier_limits_
        reach = np.inf if limits is None else -float(limits.threshold_of([cell])[0])
        if threshold == np.inf or reach < 0:
            continue
        if reject.cells_ != "class" or parts.ambiguity == "boundary":
            # cell and boundary depend on the winner, so it must also be nearer than the other prototypes of its class
            own = np.setdiff1d(np.arange(len(labels)), [t, *region.others])
            region = region._replace(rivals=np.append(region.others, own), offset=np.zeros(len(labels) - 1))
        if parts.ambiguity == "distance":
            reach = min(reach, -threshold)
        elif parts.ambiguity == "boundary" and threshold > 0:
            region.offset[: len(region.others)] = (
                2 * threshold * np.linalg.norm(prototypes[region.others] - prototypes[t], axis=1)
            )
        else:
            region = region._replace(similar=max(0.0, threshold))
        regions.append(region._replace(reach=reach))
    return regions
