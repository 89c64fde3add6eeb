from support.cluster import cluster  # noqa: F401  # one for all modules
