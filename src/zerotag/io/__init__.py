"""Files: read and written by format, whole or not at all."""
