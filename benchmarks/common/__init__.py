"""What questions share: data, models, timing, memory, scores, statistics, results, pages, drawing."""
