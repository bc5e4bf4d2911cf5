"""Learners on twins: the games and what learns in them are one compiled loop in a process that is shut in."""
