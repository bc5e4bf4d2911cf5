"""What the POSGGym paper and its raw results report."""
