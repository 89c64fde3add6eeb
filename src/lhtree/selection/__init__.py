"""Model selection: tuning and comparison by cross-validation."""
