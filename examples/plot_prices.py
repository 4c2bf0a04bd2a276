"""
Mistakes that have a price
==========================

To miss a malignant tumour is worse than a false alarm. `cost_matrix` gives each kind of mistake a price, by which the
cost is multiplied in training: row and column are the true and the predicted class.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GMLVQ

data = load_breast_cancer()
X, y = data.data[:, :10], data.target_names[data.target]  # the ten means alone, so that there are mistakes
classes = np.unique(y)  # benign, malignant
folds = StratifiedKFold(10, shuffle=True, random_state=0)
prices = (1, 2, 5, 10, 20)

# %%
# Ten folds for each price of a missed tumour. Missed tumours become rarer, and false alarms more frequent.

missed, alarms = [], []
for price in prices:
    model = make_pipeline(StandardScaler(), GMLVQ(rank=2, cost_matrix=[[0, 1], [price, 0]], random_state=0))
    matrix = confusion_matrix(y, cross_val_predict(model, X, y, cv=folds), labels=classes)
    missed.append(matrix[1, 0])
    alarms.append(matrix[0, 1])
figure, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
places = np.arange(len(prices))
ax.bar(places - 0.2, missed, 0.38, color="#D55E00", label="malignant predicted benign")
ax.bar(places + 0.2, alarms, 0.38, color="#0072B2", label="benign predicted malignant")
ax.set_xticks(places, [str(price) for price in prices])
ax.set(
    xlabel="price of a missed tumour; a false alarm costs 1", ylabel="mistakes of 569", title="Mistakes by their price"
)
ax.legend()
