"""The slow twins: the method in plain NumPy loops, a module for each part of the core."""
