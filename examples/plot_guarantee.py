"""
A guaranteed error on tumours
=============================

`RejectClassifier(max_error=0.05)` chooses which predictions to accept so that at most 5 % of them are wrong, with a
confidence of 95 %, for samples from the same source. It tests this on samples that the model was not trained on.
Repeated splits show whether the bound holds.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import LVQClassifier, RejectClassifier
from lvq.plots import ProjectionDisplay
from lvq.rejection import GuaranteeError

MAX_ERROR = 0.05
data = load_breast_cancer()
X, y = data.data, data.target_names[data.target]
model = make_pipeline(StandardScaler(), LVQClassifier(random_state=0))

# %%
# The model in its own plane, with the test samples; those it rejects are hollow. In the hatched area it rejects every
# sample.

X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, test_size=0.25, random_state=0)
reject = RejectClassifier(model, max_error=MAX_ERROR, cv=0.6, random_state=0).fit(X_train, y_train)
ProjectionDisplay.from_estimator(reject, X_test, y_test)
print(f"accepted {reject.coverage(X_test):.2f}, of these correct {reject.accepted_accuracy(X_test, y_test):.3f}")

# %%
# Twenty splits, each with its own training, calibration and test. A point is the error of the accepted predictions on
# the test samples. Points above the line do not contradict the guarantee: the line bounds the true error, and 143 test
# samples estimate that only roughly. Where the calibration samples cannot support the bound, `fit` raises a
# `GuaranteeError` that says how many are needed.

points, failures = [], 0
for seed in range(20):
    X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, test_size=0.25, random_state=seed)
    reject = RejectClassifier(model, max_error=MAX_ERROR, cv=0.6, random_state=seed)
    try:
        reject.fit(X_train, y_train)
    except GuaranteeError:
        failures += 1
        continue
    points.append((reject.coverage(X_test), 1 - reject.accepted_accuracy(X_test, y_test)))
coverage, error = np.array(points).T
figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
ax.scatter(coverage, error, c="#0072B2", s=30, label=f"{len(points)} splits; {failures} without a guarantee")
ax.axhline(MAX_ERROR, color="#D55E00", label="guaranteed: at most 5 %")
ax.axhline(error.mean(), color="#666666", linestyle="--", label=f"mean {100 * error.mean():.1f} %")
ax.set(
    xlabel="coverage: fraction of predictions accepted",
    ylabel="error among the accepted",
    title="Error under a guarantee",
)
ax.legend()
