"""
None of these: foreign inputs among embeddings
==============================================

There are ten labelled rows of each class, and inputs that belong to no class. The probability of the predicted class
finds mistakes, the distance to the nearest prototype finds foreign inputs; "combined" adds "none of these" to the
classes and finds both. If the folder in the environment variable LVQ_DATA has CLINC150 (sentences to a voice
assistant), the rows are embedded sentences; otherwise they are small pictures of digits, and eights and nines are
foreign.
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score, roc_curve

from lvq import LVQClassifier, RejectClassifier
from lvq.inspection import nearest_cases
from lvq.plots.style import class_colours

SHOTS = 10
rng = np.random.default_rng(0)
clinc = Path(os.environ.get("LVQ_DATA", ""), "clinc150_minilm.npz")


def sentences():
    """Rows and classes of 40 intents of CLINC150, and sentences of no intent."""
    stored = np.load(clinc)
    X = np.concatenate([stored[f"X_{part}"] for part in ("train", "val", "test")]) * np.float32(stored["scale"])
    y = np.concatenate([stored[f"y_{part}"] for part in ("train", "val", "test")])
    return X[y < 40], y[y < 40], stored["X_oos_test"] * np.float32(stored["scale"])


def pictures():
    """Digits up to 7, and eights and nines."""
    X, y = load_digits(return_X_y=True)
    return X[y < 8], y[y < 8], X[y >= 8]


X, y, foreign = sentences() if clinc.exists() else pictures()
order = rng.permutation(len(y))
rank = np.array([np.count_nonzero(y[order[:place]] == y[row]) for place, row in enumerate(order)])
train, rest = order[rank < SHOTS], order[rank >= SHOTS]
calibration, test = rest[: len(rest) // 3], rest[len(rest) // 3 :]
model = LVQClassifier(random_state=0).fit(X[train], y[train])
correct = model.predict(X[test]) == y[test]
print(f"{len(train)} rows of {len(model.classes_)} classes, accuracy {correct.mean():.3f}")

# %%
# Three measures, each with one threshold that accepts 90 % of the known inputs. Left: how well they separate foreign
# inputs from known ones. Right: how well they separate mistakes from correct predictions.

figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
for measure, colour in zip(("probability", "distance", "combined"), class_colours(3)):
    safe = RejectClassifier(model, cv="prefit", measure=measure, min_coverage=0.9).fit(X[calibration], y[calibration])
    inside, outside = safe.certainty(X[test]), safe.certainty(foreign)
    known = np.repeat([True, False], [len(inside), len(outside)])
    for axis, truth, certainty in ((axes[0], known, np.append(inside, outside)), (axes[1], correct, inside)):
        rejected_wrongly, found, _ = roc_curve(~truth, -certainty)
        axis.plot(rejected_wrongly, found, color=colour, label=f"{measure}, {roc_auc_score(truth, certainty):.3f}")
    print(f"{measure}: {safe.coverage(X[test]):.2f} of the known accepted, {safe.coverage(foreign):.2f} of the foreign")
axes[0].set(xlabel="known inputs rejected", ylabel="foreign inputs rejected", title="Foreign inputs")
axes[1].set(xlabel="correct predictions rejected", ylabel="mistakes rejected", title="Mistakes")
for axis in axes:
    axis.legend(loc="lower right", title="area under the curve")

# %%
# A reason that needs no feature names: the nearest known cases of the predicted class and of its rival.

found = nearest_cases(model, X[test[:3]], X[train], y[train], samples=[f"training row {row}" for row in train])
print(found.table())
