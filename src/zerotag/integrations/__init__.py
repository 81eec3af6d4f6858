"""Other people's tools: one module for each, imported by name, behind an optional extra of the same name."""
