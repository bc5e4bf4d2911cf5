"""A runner with two ways to a goal, and a chaser who can watch one of them."""
