"""What a policy may believe of what is hidden."""
