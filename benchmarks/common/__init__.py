"""Shared code of the benchmarks: data, models, timing, memory, scores, statistics, results, pages, drawing."""
