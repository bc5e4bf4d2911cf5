"""The tables and figures of the paper on code world models, made anew."""
