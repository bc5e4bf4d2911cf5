"""Further functions beside a model: values, priors, vectors."""
