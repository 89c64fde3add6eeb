"""Slow reference of the race between settings of boosting, in plain loops."""

import math

FASTEST, PATIENCE, FURTHER, MANY_ROWS = 0.3, 20, 1.5, 4000


def mean(values, weight):
    return math.fsum(v * w for v, w in zip(values, weight, strict=True)) / math.fsum(weight)


def walk(losses, begin, end, patience=PATIENCE):
    """Rounds of a leg, from ``begin`` to ``end`` at most: the last round, and whether patience ended it."""
    best, n_since = losses[begin], 0
    for number in range(begin + 1, end + 1):
        if losses[number] < best:
            best, n_since = losses[number], 0
        else:
            n_since += 1
        if n_since == patience:
            return number, number < end
    return end, False


def race(folds, weights, paces, leaf, rate, max_iter, n_raced, n_rows):
    """Return the number of the winner, the best round of every setting, and the factor of the rate.

    ``folds`` has, for every fold and setting, the loss of every held-out row before the first round and after each; the
    defaults are the first setting. ``paces`` has the learning rate of every setting relative to that of the defaults.
    One fold stops when its mean loss has not improved for a while. Two folds take equally many rounds. Settings are
    compared row by row, after the best round of the row's fold in the last leg that improved the setting.
    """
    weight = [w for own in weights for w in own]
    curves = [
        [[loss for fold in folds for loss in fold[number][way]] for way in range(len(folds[0][number]))]
        for number in range(len(folds[0]))
    ]
    means = [[mean(rows, weight) for rows in curve] for curve in curves]
    n_rounds = max_iter // 4
    last, is_over, judged = [0] * len(curves), [False] * len(curves), [[] for _ in curves]

    def go_on(number, end):
        if is_over[number] or end <= last[number]:
            return
        begin, least = last[number], find_loss(number) if last[number] else math.inf
        if len(folds) == 1:
            last[number], is_over[number] = walk(means[number], last[number], end)
        else:
            last[number] = end
            is_over[number] = end - find_best(number) >= PATIENCE
        if find_loss(number) < least:
            judged[number] = []
            for fold, own in zip(folds, weights, strict=True):
                leg = fold[number][begin : last[number] + 1]
                judged[number] += list(min(leg, key=lambda rows, own=own: mean(rows, own)))

    def find_best(number):
        return min(range(last[number] + 1), key=means[number].__getitem__)

    def find_loss(number):
        return means[number][find_best(number)]

    for number in range(len(curves)):
        go_on(number, n_rounds // 4)
    finalists = sorted(range(1, len(curves)), key=find_loss)[: 2 if len(folds) == 1 else 1]
    for number in (0, *finalists):
        go_on(number, n_rounds)
    winner = min(range(len(curves)), key=find_loss)
    differences = [a - b for a, b in zip(judged[winner], judged[0], strict=True)]
    gain = mean(differences, weight)
    spread = math.sqrt(math.fsum((w * (d - gain)) ** 2 for d, w in zip(differences, weight, strict=True)))
    certainty = 1.0 if len(folds) == 1 else 0.5
    if not gain < -certainty * spread / math.fsum(weight):
        winner = 0

    def may_improve():
        return not is_over[winner] and find_best(winner) >= 0.9 * last[winner]

    if may_improve():
        go_on(winner, 2 * n_rounds)
    own = rate * paces[winner]
    raced_rate = min(1.0, float(f"{min(max(own, FASTEST), 2 * own):.4g}"))
    way = FURTHER * raced_rate * max(find_best(winner), 1) / (rate * max_iter) * (n_rows / n_raced) ** 0.35
    most = 2.0 if leaf == "constant" else 1.0 + min(1.0, n_raced / MANY_ROWS)
    most *= paces[winner] if n_raced < 1000 else 1.0
    factor = min(most, max(way, 1.0) if may_improve() else way)
    return winner, [find_best(number) for number in range(len(curves))], factor
