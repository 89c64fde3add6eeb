"""Tables in files and in batches, on the readers of pyarrow."""
