"""One game that a person plays or watches: who sits where, how it is planned, what keeps it."""
