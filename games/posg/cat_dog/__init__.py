"""Alice sees a pet and may pay to show it to Bob, who guesses."""
