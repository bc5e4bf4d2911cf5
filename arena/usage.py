"""The error of a wish that cannot be met."""


class UsageError(Exception):
    """What the user asked for cannot be done; the message says what was given, what is expected, what to do."""
