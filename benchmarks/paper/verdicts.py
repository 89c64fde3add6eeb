"""Verdicts on what the paper claims."""

from typing import NamedTuple

HOLDS, LUCKY, FAILS = "holds", "holds on lucky splits", "does not hold"
# What is claimed of a split at random should be true of nearly every one.
HOLDS_FROM = 0.95


def verdict(share: float) -> str:
    """Return what a share of splits says of a claim made from one of them."""
    if share >= HOLDS_FROM:
        return HOLDS
    return LUCKY if share > 0 else FAILS


class Claim(NamedTuple):
    """What the paper says, what was found, over how much, and what that makes of it."""

    said: str
    found: str
    size: str
    verdict: str

    def row(self) -> list[str]:
        """Return the claim as cells."""
        return [self.said, self.found, self.size, f"**{self.verdict}**"]
