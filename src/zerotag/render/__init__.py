"""Results for people: an HTML page, coloured words in the terminal, heat maps, progress."""
