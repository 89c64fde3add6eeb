"""Drawings of trees for notebooks and printed sheets."""
