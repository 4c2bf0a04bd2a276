"""
Importances with intervals
==========================

A fitted model always ranks its features. With `n_resamples`, `lvq.variable_importances` refits it to random halves of
the samples and shows which differences are more than chance.
"""

from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GMLVQ, variable_importances
from lvq.plots import RelevanceDisplay

X, y = load_wine(return_X_y=True, as_frame=True)
model = make_pipeline(StandardScaler(), GMLVQ(random_state=0)).fit(X, y)
intervals = variable_importances(model, X, y, n_resamples=40)

# %%
# Bars are importances, whiskers their 90 % intervals. A feature is called important only if its importance exceeds the
# mean of all features, with that confidence for all features together.

display = RelevanceDisplay.from_importances(intervals)
display.ax_.axvline(1 / X.shape[1], color="#D55E00", linestyle="--", label="mean of all features")
display.ax_.legend(loc="lower right")
display.ax_.set_title("Wine: importance of 13 measurements")
print("important:", ", ".join(intervals.names[intervals.important]))
