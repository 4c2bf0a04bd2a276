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
        count = statistics.wins[winner]
        for k in range(x.shape[0]):
            before = x[k] - statistics.mean[winner, k]
            statistics.mean[winner, k] += before / count
            statistics.scatter[winner, k] += before * (x[k] - statistics.mean[winner, k])


@helper
def _fraction_of(statistics, begin, end, j, even):
    """Weight of prototype j in its class, the rows begin..end: its correct wins, or 1 where none has one yet."""
    wins = statistics.wins[begin:end].sum()
    if wins > 0.0:
        return statistics.wins[j] / wins
    return 1.0 / (end - begin) if even else 0.0


@helper
def _prior_of(statistics, label, classes, even):
    return 1.0 / classes if even else statistics.seen[label] / statistics.seen.sum()


@helper
def _over_prototypes(statistics, W, starts, between, within, even):
    """FC1: class means and variances over the prototypes, weighted by their fraction of the class's correct wins."""
    between[:] = 0.0
    within[:] = 0.0
    features, classes = W.shape[1], starts.shape[0] - 1
    overall = np.zeros(features)
    means = np.zeros((classes, features))
    known = np.zeros(classes)  # the priors of the classes that count
    for label in range(classes):
        begin, end = starts[label], starts[label + 1]
        # relative to one of them, so that equal prototypes give exactly no variance
        base = begin
        while base < end and _fraction_of(statistics, begin, end, base, even) == 0.0:
            base += 1
        if base == end:
            continue
        known[label] = _prior_of(statistics, label, classes, even)
        for j in range(base, end):
            fraction = _fraction_of(statistics, begin, end, j, even)
            for k in range(features):
                means[label, k] += fraction * (W[j, k] - W[base, k])
        for k in range(features):
            means[label, k] += W[base, k]
            overall[k] += known[label] * means[label, k]
        for j in range(base, end):
            fraction = _fraction_of(statistics, begin, end, j, even)
            for k in range(features):
                difference = W[j, k] - means[label, k]
                within[k] += known[label] * fraction * difference * difference
    if (known > 0.0).sum() < 2:
        return False
    for label in range(classes):
        for k in range(features):
            difference = means[label, k] - overall[k] / known.sum()
            between[k] += known[label] * difference * difference
    return True


@helper
def _of_neighbours(rule, statistics, distances, starts, winner, between, within):
    """FC2: the nearest prototype of each class that has won enough samples, by the moments of those samples."""
    between[:] = 0.0
    within[:] = 0.0
    features = between.shape[0]
    chosen = np.full(starts.shape[0] - 1, -1)
    needed = 1.0 if rule.two_classes else 2.0
    for label in range(starts.shape[0] - 1):
        for j in range(starts[label], starts[label + 1]):
            if statistics.wins[j] >= needed and (chosen[label] < 0 or distances[j] < distances[chosen[label]]):
                chosen[label] = j
    if rule.two_classes and not _keep_winner_and_rival(statistics, distances, starts, winner, chosen):
        return False
    known = 0
    for label in range(chosen.shape[0]):
        known += 1 if chosen[label] >= 0 else 0
    if known < 2:
        return False
    for k in range(features):
        average = 0.0
        for label in range(chosen.shape[0]):
            if chosen[label] >= 0:
                average += statistics.mean[chosen[label], k] / known
        for label in range(chosen.shape[0]):
            j = chosen[label]
            if j >= 0:
                difference = statistics.mean[j, k] - average
                between[k] += difference * difference / known
                if statistics.wins[j] > 1.0:
                    within[k] += statistics.scatter[j, k] / (statistics.wins[j] - 1.0)
    return True


@helper
def _keep_winner_and_rival(statistics, distances, starts, winner, chosen):
    """Two classes only: the winner itself, and the nearest prototype of another class that has statistics."""
    if statistics.wins[winner] < 1.0:
        return False
    rival = -1
    for label in range(chosen.shape[0]):
        j = chosen[label]
        if starts[label] <= winner < starts[label + 1]:
            chosen[label] = winner
        elif j >= 0 and (rival < 0 or distances[j] < distances[chosen[rival]]):
            if rival >= 0:
                chosen[rival] = -1
            rival = label
        else:
            chosen[label] = -1
    return rival >= 0


@helper
def _average_scores(rule, statistics, between, within, relevances):
    """The running mean of S_B / S_W, divided by its sum or maximum; a feature with S_W = 0 scores 0 (see Rule)."""
    smallest = np.inf
    largest = 0.0
    for k in range(within.shape[0]):
        smallest = min(smallest, within[k])
        largest = max(largest, within[k])
    alone = rule.between_alone and smallest == 0.0
    if largest == 0.0 and not alone:
        return
    total, top = 0.0, 0.0
    for k in range(between.shape[0]):
        if not alone:
            between[k] = between[k] / within[k] if within[k] > 0.0 else 0.0
        total += between[k]
        top = max(top, between[k])
    norm = top if rule.by_maximum else total
    if not (np.isfinite(norm) and norm > 0.0):
        return
    statistics.scores[0] += 1.0
    for k in range(between.shape[0]):
        relevances[k] += (between[k] / norm - relevances[k]) / statistics.scores[0]


@helper
def update_scores(rule, statistics, x, label, winner, distances, W, starts, relevances, scores):
    """The statistics and relevances after the step of a sample; distances are those before it."""
    between, within = scores[0], scores[1]
    _record(statistics, x, winner, label, starts[label] <= winner < starts[label + 1], rule.relevance == FISHER2)
    if rule.relevance == FISHER1:
        defined = _over_prototypes(statistics, W, starts, between, within, rule.even_classes)
    else:
        defined = _of_neighbours(rule, statistics, distances, starts, winner, between, within)
    if defined:
        _average_scores(rule, statistics, between, within, relevances)
