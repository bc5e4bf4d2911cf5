"""How a tournament is refused."""


class TournamentError(ValueError):
    """A tournament cannot be played as asked."""
