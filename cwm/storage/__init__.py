"""How anything is written, named and locked on disk."""
