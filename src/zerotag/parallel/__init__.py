"""Several processes at one piece of work: those of this machine, and those of a cluster of Ray."""
