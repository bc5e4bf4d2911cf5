"""Alice sees a pet and presses a button, Bob sees a lamp and guesses."""
