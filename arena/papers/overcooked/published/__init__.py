"""What the OvercookedV2 paper reports."""
