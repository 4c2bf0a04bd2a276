"""
Costs of mistakes
=================

Missing a malignant tumour is worse than a false alarm. `cost_matrix` of `LVQClassifier`, here with the cost of
GMLVQ, gives each kind of mistake a cost, by which samples are weighted in training. Rows are true classes, columns
predicted ones.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import LVQClassifier
from lvq.model.relevance import Matrix

data = load_breast_cancer()
X, y = data.data[:, :10], data.target_names[data.target]  # the ten means alone, so that there are mistakes
classes = np.unique(y)  # benign, malignant
folds = StratifiedKFold(10, shuffle=True, random_state=0)
costs = (1, 2, 5, 10, 20)

# %%
# Ten folds for each cost of a missed tumour. As it grows, missed tumours become rarer and false alarms more frequent.

missed, alarms = [], []
for cost in costs:
    parts = {"cost": "glvq", "relevance": Matrix(rank=2), "calibration": None}
    priced = LVQClassifier(**parts, cost_matrix=[[0, 1], [cost, 0]], random_state=0)
    model = make_pipeline(StandardScaler(), priced)
    matrix = confusion_matrix(y, cross_val_predict(model, X, y, cv=folds), labels=classes)
    missed.append(matrix[1, 0])
    alarms.append(matrix[0, 1])
figure, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
places = np.arange(len(costs))
ax.bar(places - 0.2, missed, 0.38, color="#D55E00", label="malignant predicted benign")
ax.bar(places + 0.2, alarms, 0.38, color="#0072B2", label="benign predicted malignant")
ax.set_xticks(places, [str(cost) for cost in costs])
ax.set(
    xlabel="cost of a missed tumour; a false alarm costs 1", ylabel="mistakes of 569", title="Mistakes by their cost"
)
ax.legend()
