"""Two agents who must meet at one of four goals, and are not told at which."""
