"""The recipe: teachers, pseudo-labels, the student, thresholds; the loop, steps and checkpoints that serve them."""
