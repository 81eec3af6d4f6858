"""Comparisons, corpora and models of papers. It imports the library; the library never imports it."""
