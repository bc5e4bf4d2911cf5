"""An evader on its way through a maze, and a pursuer who wins by seeing it."""
