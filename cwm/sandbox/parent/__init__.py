"""The trusted side: starts workers, asks them and ends them."""
