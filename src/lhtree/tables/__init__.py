"""Tables of any library, and of files, as numbers: columns, their encoding and normalisation.

Needs NumPy only; pandas, polars and Arrow are used where such a table is given, Arrow where a file is read.
"""
