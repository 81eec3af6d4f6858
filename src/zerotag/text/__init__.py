"""Texts, words and sub-words: segmentation, tokenization, alignment, batches. The only package that knows sub-words."""
