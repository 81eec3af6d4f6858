"""Learning curves over sentences with word labels: tuning, joint training, both, and word labels alone."""
