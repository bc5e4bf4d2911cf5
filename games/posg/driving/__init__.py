"""Vehicles that each have somewhere to go, and see little of the road."""
