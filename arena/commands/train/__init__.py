"""`cwm train`: learners on games and on models."""
