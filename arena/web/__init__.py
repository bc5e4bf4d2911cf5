"""Pages in the browser of this machine: play, watch, follow runs."""
