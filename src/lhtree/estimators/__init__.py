"""The scikit-learn estimators, one module per model family."""
