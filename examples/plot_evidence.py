"""
Evidence for one case, effects of all features
==============================================

The probabilities of `LVQClassifier` fall with squared distances, which are sums over features. So the log-odds of a
prediction are a sum over features too. `lvq.explain` gives the evidence of each feature, with no remainder.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lvq
from lvq.plots import EffectDisplay, EvidenceDisplay

data = load_breast_cancer(as_frame=True)
X, y = data.data.filter(like="mean"), np.array(["malignant", "benign"])[data.target]
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
model = make_pipeline(StandardScaler(), lvq.LVQClassifier(form="additive", n_prototypes=1, random_state=0))
model.fit(X_train, y_train)
print("accuracy:", round(model.score(X_test, y_test), 3))

# %%
# The least certain test tumour, from even odds to its prediction. Each bar multiplies the odds by the number next to
# it.

probability = model.predict_proba(X_test).max(axis=1)
why = lvq.explain(model, X_test.iloc[[probability.argmin()]])
EvidenceDisplay.from_explanation(why)
print(why.table(3)[["feature", "value", "winner_value", "rival_value", "evidence", "odds"]].round(2).to_string())
print("sum:", why.evidence.sum().round(6), "log-odds:", abs(model.decision_function(why.inputs))[0].round(6))

# %%
# In the additive form with one prototype per class, the evidence of a feature depends on its own value alone, so these
# curves are the whole model. Triangles are the prototypes; bands are 90 % intervals from refits to random halves.

EffectDisplay.from_estimator(model, X_train, y_train, class_="malignant", n_resamples=10)
