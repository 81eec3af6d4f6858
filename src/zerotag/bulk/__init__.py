"""Labelling files of any size: input in chunks, output that survives a kill, records that cannot be used set aside."""
