"""Trees and models as text, rules, formulas and Graphviz."""
