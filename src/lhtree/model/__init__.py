"""The frozen result of a fit: tree arrays, encoding, normalisation, classes and head."""
