"""Arithmetic of boosting that must agree with the core to the bit: exp, log and wide sums."""

import math
import struct


def exp(x):
    """e^x by additions and multiplications alone, in the core's order."""
    x = min(max(x, -746.0), 710.0)
    rounded = x * float.fromhex("0x1.71547652b82fep0") + 1.5 * 2.0**52
    k = rounded - 1.5 * 2.0**52
    high, low = x - k * float.fromhex("0x1.62e42feep-1"), k * float.fromhex("0x1.a39ef35793c76p-33")
    r = high - low
    tail = 0.0
    for n in range(13, 1, -1):
        tail = tail * r + 1.0 / math.factorial(n)
    power = 1.0 + (high + (r * r * tail - low))
    half = math.floor(k / 2)
    return power * 2.0**half * 2.0 ** (k - half)


def log(x):
    """ln x, of a normal number."""
    bits = struct.unpack("<Q", struct.pack("<d", x))[0]
    root_half = 0x3FE6A09E00000000
    shifted = bits + 0x3FF0000000000000 - root_half
    k = float((shifted >> 52) - 1023)
    f = struct.unpack("<d", struct.pack("<Q", (shifted & (1 << 52) - 1) + root_half))[0] - 1.0
    s = f / (2.0 + f)
    z, series = s * s, 0.0
    for n in range(23, 1, -2):
        series = series * z + 2.0 / n
    series = series * z
    half_square = 0.5 * f * f
    tail = s * (half_square + series) + k * float.fromhex("0x1.a39ef35793c76p-33")
    return k * float.fromhex("0x1.62e42feep-1") - ((half_square - tail) - f)


def as_float(total):
    """A sum of up to 128 bits: exactly rounded below 2^64, else each half is."""
    if abs(total) < 2**64:
        return float(total)
    return float(total >> 64) * 2.0**64 + float(total % 2**64)


def clamp(value, low, high):
    return low if value < low else high if high < value else value


def solve_with_ridge(lower, ridge, right_side):
    """(S + ridge · I) x = b by Cholesky, of the rows of the lower triangle; None where it fails."""
    p = len(right_side)
    for i, row in enumerate(lower):
        diagonal = row[i] + ridge
        pivot = diagonal
        for j in range(i):
            for k in range(j):
                row[j] -= row[k] * lower[j][k]
            row[j] /= lower[j][j]
            pivot -= row[j] * row[j]
        if not pivot > 1e-12 * diagonal:
            return None
        row[i] = math.sqrt(pivot)
    x = list(right_side)
    for i in range(p):
        for j in range(i):
            x[i] -= lower[i][j] * x[j]
        x[i] /= lower[i][i]
    for i in reversed(range(p)):
        for j in range(i + 1, p):
            x[i] -= lower[j][i] * x[j]
        x[i] /= lower[i][i]
    return x if all(math.isfinite(value) for value in x) else None
