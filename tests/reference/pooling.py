"""Ensembles in plain loops: raw scores of both members, and the weights with the least loss on a grid."""

import math

LEAST_MEMBERSHIP = 1e-6
PRIOR, PRIOR_ROWS = (0.6, 0.5), 20.0


def pool_row(raw_score, membership, weight):
    """Return the raw scores of a row from raw scores of boosted trees and memberships of a forest."""
    logs = [math.log(max(share, LEAST_MEMBERSHIP)) for share in membership]
    if len(raw_score) == 1:
        return [raw_score[0] + weight * (logs[1] - logs[0])]
    return [raw + weight * log for raw, log in zip(raw_score, logs, strict=True)]


def log_loss(raw_score, code):
    """Return the log loss of a row; with two classes, there is one raw score."""
    scores = [0.0, *raw_score] if len(raw_score) == 1 else raw_score
    largest = max(scores)
    return largest + math.log(sum(math.exp(score - largest) for score in scores)) - scores[code]


def penalised_loss(weights, raw_scores, memberships, codes, row_weights):
    """Return the mean loss of all rows plus the penalty of the distance from the prior weights."""
    total = sum(row_weights)
    loss = 0.0
    for raw_score, membership, code, row_weight in zip(
        raw_scores, memberships, codes, row_weights, strict=True
    ):
        own = [weights[0] * raw for raw in raw_score]
        loss += row_weight / total * log_loss(pool_row(own, membership, weights[1]), code)
    distance = sum((weight - prior) ** 2 for weight, prior in zip(weights, PRIOR, strict=True))
    return loss + PRIOR_ROWS / len(codes) * distance
