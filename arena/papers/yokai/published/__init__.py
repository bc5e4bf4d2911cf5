"""What the Yōkai paper reports."""
