"""The slow twin of the losses of a response: first scores, derivatives, losses and values by selection."""

import math

import numpy as np

from .numbers import as_float, clamp, exp, log

LOG_LINK = ("poisson", "gamma")


def power_above(value):
    """The least power of two above a number; 1 of 0."""
    return 2.0 ** math.frexp(value)[1] if value > 0.0 else 1.0


def select(values, weights, share):
    """The least value up to which values hold a share of the weight, in units of 2^-60."""
    whole = sorted(
        (round(clamp(value * 2.0**60, -(2.0**62), 2.0**62)), weight)
        for value, weight in zip(values, weights, strict=True)
    )
    total = sum(weights)
    if total == 0:
        return 0.0
    needed, reached = clamp(math.ceil(share * float(total)), 1, total), 0
    for value, weight in whole:
        reached += weight
        if reached >= needed:
            return float(value) * 2.0**-60
    raise AssertionError("weights add up to less than their total")


def mean(values, weights):
    """The weighted mean, from integers of 52 bits in two halves."""
    largest = max(abs(value) for value, weight in zip(values, weights, strict=True) if weight > 0)
    unit = max(power_above(largest) * 2.0**-52, 2.0**-1074)
    whole = [round(value / unit) if weight else 0 for value, weight in zip(values, weights, strict=True)]
    high = as_float(sum((value >> 26) * weight for value, weight in zip(whole, weights, strict=True)))
    low = as_float(sum((value & 0x3FFFFFF) * weight for value, weight in zip(whole, weights, strict=True)))
    return (high * 2.0**26 + low) / as_float(sum(weights)) * unit


class Response:
    """Numbers to predict, and the loss of a raw score for each."""

    quantum, most = 2.0**-40, 64.0

    def __init__(self, loss, y, quantile=0.5):
        self.loss_name, self.y = loss, [float(value) for value in y]
        self.share = quantile if loss == "quantile" else 0.5
        self.selects = loss in ("absolute_error", "quantile")

    def first(self, rows, weight):
        """The best constant."""
        values, weights = [self.y[row] for row in rows], [weight[row] for row in rows]
        if self.selects:
            return [select(values, weights, self.share)]
        return [log(mean(values, weights)) if self.loss_name in LOG_LINK else mean(values, weights)]

    def find_mean(self, raw):
        return exp(clamp(raw, -80.0, 80.0))

    def find_ratio(self, y, raw):
        return exp(clamp(log(y) - raw, -700.0, 69.0))

    def differentiate(self, row, raw, score, row_sum):
        """First and second derivative, as float32; with a log link, such that steps are 2 (ρ - 1) / (ρ + 1)."""
        y, raw = self.y[row], raw[0]
        if self.loss_name == "squared_error":
            both = raw - y, 1.0
        elif self.selects:
            size = 2.0 if self.loss_name == "absolute_error" else 1.0
            side = 1.0 - self.share if raw > y else -self.share if raw < y else 0.0
            both = size * side, 1.0
        elif self.loss_name == "poisson":
            both = self.find_mean(raw) - y, 0.5 * (self.find_mean(raw) + y)
        else:
            both = 1.0 - self.find_ratio(y, raw), 0.5 * (1.0 + self.find_ratio(y, raw))
        return np.float32(both[0]), np.float32(both[1])

    def loss(self, row, raw):
        """Half the squared error, the absolute error, the pinball loss, or half the deviance."""
        y, raw = self.y[row], raw[0]
        if self.loss_name == "squared_error":
            return 0.5 * (y - raw) * (y - raw)
        if self.loss_name == "absolute_error":
            return abs(y - raw)
        if self.loss_name == "quantile":
            return self.share * (y - raw) if y > raw else (self.share - 1.0) * (y - raw)
        if self.loss_name == "poisson":
            value = self.find_mean(raw) - y
            return value + y * (log(y) - raw) if y > 0.0 else value
        return self.find_ratio(y, raw) - 1.0 - (log(y) - raw)

    def residual(self, row, raw, score):
        """The response minus a raw score."""
        return self.y[row] - raw[score]

    def share_of(self, score):
        """The quantile of the residuals that is selected."""
        return self.share

    def find_unit(self, rows, first):
        """A power of two in which losses are small."""
        if self.loss_name == "gamma":
            return 16.0
        if self.loss_name == "poisson":
            return power_above(max([self.find_mean(first), *(self.y[row] for row in rows)]))
        power = power_above(max((abs(self.y[row] - first) for row in rows), default=0.0))
        return power * power if self.loss_name == "squared_error" else power


class Several:
    """Several quantiles of one response, or several responses: a raw score of each."""

    def __init__(self, parts):
        self.parts, self.selects = parts, parts[0].selects

    def first(self, rows, weight):
        """The best constants."""
        return [part.first(rows, weight)[0] for part in self.parts]

    def differentiate(self, row, raw, score, row_sum):
        """First and second derivative by one score, as float32."""
        return self.parts[score].differentiate(row, raw[score : score + 1], 0, row_sum)

    def differentiate_all(self, row, raw):
        """Derivatives by all scores of a row, in float32."""
        return [self.differentiate(row, raw, score, 0.0) for score in range(len(raw))]

    def residual(self, row, raw, score):
        """A response minus the raw score of it."""
        return self.parts[score].y[row] - raw[score]

    def share_of(self, score):
        """The quantile of the residuals that is selected."""
        return self.parts[score].share

    def find_scales(self, initial):
        """Factors of the gradients in a projection, and divisors of the losses, from the initial losses."""
        if self.selects:
            return [1.0 / math.sqrt(part.share * (1.0 - part.share)) for part in self.parts], [1.0] * len(
                initial
            )
        return [1.0 / math.sqrt(one) if one > 0.0 else 1.0 for one in initial], [
            one or 1.0 for one in initial
        ]
