"""
The reject option on the pearl necklace
=======================================

Five Gaussians on a line, of very different widths (L. Fischer, B. Hammer, H. Wersing, Local rejection strategies for
learning vector quantization, ICANN 2014). The densities are known, so the best possible reject option (Bayes) is known
too. How close does GLVQ come to it?
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import softmax
from sklearn.frozen import FrozenEstimator

from lvq import GLVQ, RejectClassifier
from lvq.plots import AccuracyRejectDisplay
from lvq.plots.style import class_colours
from lvq.rejection import accuracy_reject_curve

CENTRES = np.array([[2, 3], [44, 3], [85, 3], [100, 3], [136, 3]])
DEVIATIONS = np.array([1, 20, 0.5, 7, 11])


def necklace(n_per_class, seed):
    """Samples of each of the five classes."""
    y = np.repeat(np.arange(5), n_per_class)
    return CENTRES[y] + DEVIATIONS[y, None] * np.random.RandomState(seed).standard_normal((len(y), 2)), y


def posterior(X):
    """The true probability of each class."""
    squares = ((X[:, None] - CENTRES) ** 2).sum(axis=2)
    return softmax(-squares / (2 * DEVIATIONS**2) - 2 * np.log(DEVIATIONS), axis=1)


X, y = necklace(400, 0)
X_test, y_test = necklace(2000, 1)
model = GLVQ(random_state=0).fit(X, y)

# %%
# A threshold for each prototype, found by dynamic programming, compared with one for all. The thresholds are chosen on
# a second sample and tested on a third. The dashed line rejects by the true probability of the predicted class.

X_other, y_other = necklace(400, 2)
figure, axes = plt.subplots(1, 2, figsize=(13, 5), layout="constrained", width_ratios=[3, 2])
for label, colour in enumerate(class_colours(5)):
    axes[0].scatter(*X[y == label].T, s=6, color=colour)
axes[0].scatter(*model.prototypes_.T, s=150, c="black", marker="*", edgecolors="white", zorder=3)
reject = RejectClassifier(FrozenEstimator(model), min_coverage=0.9).fit(X_other, y_other)
rejected = ~reject.accept(X)
axes[0].scatter(*X[rejected].T, s=30, facecolors="none", edgecolors="black", linewidths=0.6, label="rejected")
axes[0].set(title="Samples, prototypes (stars) and what 90 % coverage rejects", xlabel="", ylabel="")
axes[0].legend(loc="upper left")

for thresholds, name in ("optimal", "a threshold for each prototype"), ("global", "one threshold"):
    rejecting = RejectClassifier(FrozenEstimator(model), thresholds=thresholds, min_coverage=0.9).fit(X_other, y_other)
    AccuracyRejectDisplay.from_estimator(rejecting, X_test, y_test, ax=axes[1], name=name)
truth = posterior(X_test)
best = accuracy_reject_curve(truth.max(axis=1), truth.argmax(axis=1) == y_test)
axes[1].plot(best.coverage, best.accuracy, "k--", label="Bayes optimum")
axes[1].set(xlim=(0.5, 1.0), ylim=(0.86, 1.005), title="Accuracy of the accepted predictions")
axes[1].legend(loc="lower left", fontsize="small")
print(np.round([model.score(X_test, y_test), reject.coverage(X_test), reject.accepted_accuracy(X_test, y_test)], 3))
