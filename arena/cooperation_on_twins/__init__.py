"""Learning to cooperate on twins: self-play and its relatives, cross-play, symmetries, in a process that is shut in."""
