"""The constants of the core's e^x (``elementary.hpp``), whose operations exports repeat one by one.

x = k ln 2 + r with |r| ≤ ln 2 / 2, and e^x = 2^k (1 + (high + (r² tail - low))), where tail is a Taylor series.
"""

from math import factorial

PER_LN2 = float.fromhex("0x1.71547652b82fep0")
LN2_HIGH, LN2_LOW = float.fromhex("0x1.62e42feep-1"), float.fromhex("0x1.a39ef35793c76p-33")
ROUNDER = 1.5 * 2.0**52  # added and taken off again, leaves whole numbers
TAIL = [1.0 / factorial(n) for n in range(13, 1, -1)]
LEAST = -746.0  # of x: below, the result is 0 …
LARGEST = 710.0  # … and above infinite
