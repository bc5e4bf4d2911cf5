"""What the Yōkai paper asks of trained policies beside their figures: probes of colours, names of their own."""
