"""Seats, games, tournaments, and what is stored of them."""
