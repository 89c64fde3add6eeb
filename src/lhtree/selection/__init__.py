"""Choosing a model: tuning one by cross-validation, and comparing several."""
