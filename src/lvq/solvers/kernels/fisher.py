"""Relevances by Fisher's criterion: statistics of the correct wins, and scores S_B/S_W; one call of the weights loop.

FC1 and FC2 have no rate: after the step of each sample the relevances are the running mean of the scores.
"""

import numpy as np

from lvq.solvers.kernels.compiling import helper
from lvq.solvers.kernels.rule import FISHER1, FISHER2


@helper
def _record(statistics, x, winner, label, right, moments):
    statistics.seen[label] += 1.0
    if not right:
        return
    statistics.wins[winner] += 1.0
    if moments:
        before = x - statistics.mean[winner]
        statistics.mean[winner] += before / statistics.wins[winner]
        statistics.scatter[winner] += before * (x - statistics.mean[winner])


@helper
def _over_prototypes(statistics, W, starts, even):
    """FC1: S_B and S_W of class means and variances over the prototypes, and whether there are two classes.

    Prototypes are weighted by their fraction of the class's correct wins, or all by the same where there is none yet.
    """
    features, classes = W.shape[1], starts.shape[0] - 1
    means, within = np.zeros((classes, features)), np.zeros(features)
    priors = np.zeros((classes, 1))  # of the classes that count
    for label in range(classes):
        own, wins = W[starts[label] : starts[label + 1]], statistics.wins[starts[label] : starts[label + 1]]
        if wins.sum() == 0.0 and not even:
            continue
        fractions = (wins / wins.sum() if wins.sum() > 0.0 else np.full(len(wins), 1.0 / len(wins))).reshape(-1, 1)
        base = own[np.argmax(fractions)]  # relative to one of them: equal prototypes give exactly no variance
        means[label] = (fractions * (own - base)).sum(axis=0) + base
        priors[label] = 1.0 / classes if even else statistics.seen[label] / statistics.seen.sum()
        within += priors[label] * (fractions * (own - means[label]) ** 2).sum(axis=0)
    overall = (priors * means).sum(axis=0) / priors.sum()
    return (priors * (means - overall) ** 2).sum(axis=0), within, (priors > 0.0).sum() > 1


@helper
def _of_neighbours(rule, statistics, distances, starts, winner):
    """FC2: S_B and S_W of the samples won by the nearest prototype of each class, and whether there are two classes.

    Only prototypes that have won enough samples count. With two classes only it is the winner and its nearest rival.
    """
    chosen, needed = np.full(starts.shape[0] - 1, -1), 1.0 if rule.two_classes else 2.0
    for label in range(chosen.shape[0]):
        for j in range(starts[label], starts[label + 1]):
            if statistics.wins[j] >= needed and (chosen[label] < 0 or distances[j] < distances[chosen[label]]):
                chosen[label] = j
    if rule.two_classes:
        rival = -1
        for label in range(chosen.shape[0]):
            other = not starts[label] <= winner < starts[label + 1]
            if other and chosen[label] >= 0 and (rival < 0 or distances[chosen[label]] < distances[rival]):
                rival = chosen[label]
        chosen = np.array([winner if statistics.wins[winner] >= needed else -1, rival])
    chosen = chosen[chosen >= 0]
    means, within = statistics.mean[chosen], np.zeros(statistics.mean.shape[1])
    for j in chosen:
        if statistics.wins[j] > 1.0:
            within += statistics.scatter[j] / (statistics.wins[j] - 1.0)
    between = ((means - means.sum(axis=0) / len(chosen)) ** 2).sum(axis=0) / len(chosen)
    return between, within, len(chosen) > 1


@helper
def _average_scores(rule, statistics, between, within, relevances):
    """The running mean of S_B / S_W, divided by its sum or maximum; a feature with S_W = 0 scores 0 (see Rule)."""
    scores = between
    if not (rule.between_alone and within.min() == 0.0):
        scores = np.where(within > 0.0, between / within, 0.0)
    norm = scores.max() if rule.by_maximum else scores.sum()
    if np.isfinite(norm) and norm > 0.0:
        statistics.scores[0] += 1.0
        relevances += (scores / norm - relevances) / statistics.scores[0]


@helper
def update_scores(rule, statistics, x, label, winner, distances, W, starts, relevances):
    """The statistics and relevances after the step of a sample; distances are those before it."""
    right = starts[label] <= winner < starts[label + 1]
    _record(statistics, x, winner, label, right, rule.relevance == FISHER2)
    if rule.relevance == FISHER1:
        between, within, defined = _over_prototypes(statistics, W, starts, rule.even_classes)
    else:
        between, within, defined = _of_neighbours(rule, statistics, distances, starts, winner)
    if defined:
        _average_scores(rule, statistics, between, within, relevances)
