"""What a network keeps from step to step."""
