"""*OvercookedV2: Rethinking Overcooked for Zero-Shot Coordination* (ICLR 2025)."""
