"""
Missing values
==============

With `missing="ignore"` a model computes distances from the values that a sample has, in training and in prediction;
nothing is filled in. Here values are removed at random from training and test samples, and three methods are compared.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GMLVQ

MODEL = GMLVQ(random_state=0)
ways = {
    'missing="ignore"': make_pipeline(StandardScaler(), GMLVQ(missing="ignore", random_state=0)),
    "mean imputation": make_pipeline(StandardScaler(), SimpleImputer(), MODEL),
    "imputation from 5 neighbours": make_pipeline(StandardScaler(), KNNImputer(), MODEL),
}
fractions = (0.0, 0.2, 0.4, 0.6)

# %%
# Five folds for each point; the same values are missing for all methods.

figure, axes = plt.subplots(1, 2, figsize=(12, 4.2), layout="constrained", sharey=True)
for ax, load in zip(axes, (load_wine, load_breast_cancer)):
    X, y = load(return_X_y=True)
    for (name, model), colour, marker in zip(ways.items(), ("#0072B2", "#E69F00", "#009E73"), "os^"):
        means = []
        for fraction in fractions:
            gaps = np.random.default_rng(0).random(X.shape) < fraction
            means.append(cross_val_score(model, np.where(gaps, np.nan, X), y).mean())
        ax.plot(fractions, means, color=colour, marker=marker, label=name)
    ax.set(title=load.__name__.removeprefix("load_").replace("_", " "), xlabel="fraction of values removed")
axes[0].set_ylabel("accuracy, mean of five folds")
axes[0].legend()

# %%
# Where features are correlated, as in both sets, imputation that uses the correlations is at least as accurate. The
# advantage of `missing="ignore"` is that no value is invented: a missing value contributes 0 to every explanation.
