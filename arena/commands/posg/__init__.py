"""`cwm posg`: planners and populations of games of simultaneous moves, measured."""
