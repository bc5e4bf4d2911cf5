"""The Yōkai paper's tables, from trainings of ours."""
