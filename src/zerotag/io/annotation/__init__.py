"""Formats of annotation tools: one module each, which reads exports and writes suggestions."""
