"""From the arrays of a table to a model: what estimators settle and choose before and after the core grows trees."""
