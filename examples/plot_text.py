"""
Sparse text
===========

Word counts are sparse: of thousands of features, most are zero. All models take SciPy's sparse matrices without a dense
copy. The prototype of a class of texts is a weighted list of words.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from lvq import GLVQ

TOPICS = {
    "space": "orbit launch rocket satellite moon engine crew probe signal planet telescope mission",
    "kitchen": "flour oven butter salt onion recipe simmer knife garlic sauce bake pepper",
    "music": "chord melody rhythm violin tempo choir record stage tune harmony drum score",
    "garden": "soil seed bloom prune water pot root leaf harvest shade compost rain",
}
COMMON = "the a of and to in it was very with from they then after before again still about"


def make_texts(seed, size):
    """Texts of 30 words: four of five are common or rare words, the rest belong to a topic, or to another."""
    rng = np.random.default_rng(seed)
    names, texts = list(TOPICS), []
    y = rng.choice(names, size)
    for name in y:
        topic = rng.choice(TOPICS[name].split(), 5).tolist() + rng.choice(TOPICS[rng.choice(names)].split(), 3).tolist()
        rare = [f"word{number}" for number in rng.integers(0, 8000, 10)]
        texts.append(" ".join(rng.permutation(topic + rare + rng.choice(COMMON.split(), 12).tolist())))
    return texts, y


texts, y = make_texts(0, 2000)
train, test, y_train, y_test = train_test_split(texts, y, random_state=0)
model = make_pipeline(TfidfVectorizer(), GLVQ(random_state=0)).fit(train, y_train)
counts = model[0].transform(train)
filled = counts.nnz / np.prod(counts.shape)
print(counts.shape, f"{100 * filled:.2f} % of the values are not zero")
print(f"accuracy on new texts: {model.score(test, y_test):.3f}")

# %%
# The words in which each prototype exceeds the mean of the others: the model's picture of each class.

words, prototypes = model[0].get_feature_names_out(), model[-1].prototypes_
figure, axes = plt.subplots(1, 4, figsize=(13, 3.8), layout="constrained", sharex=True)
for number, (ax, colour) in enumerate(zip(axes, ("#0072B2", "#E69F00", "#009E73", "#CC79A7"))):
    excess = prototypes[number] - np.delete(prototypes, number, axis=0).mean(axis=0)
    first = np.argsort(excess)[-12:]
    ax.barh(words[first], excess[first], color=colour)
    ax.set(title=model[-1].prototype_labels_[number], xlabel="more than in the others")
