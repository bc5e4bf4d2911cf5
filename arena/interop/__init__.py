"""Games, models and agents of ours in environments of other libraries."""
