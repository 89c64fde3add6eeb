"""Model selection: tuning, comparison and sparsity by cross-validation."""
