"""Active learning: which sentences a person should look at next, and which sentence labels to doubt."""
