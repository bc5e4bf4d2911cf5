"""Errors that a user of learned agents can mend. This module needs no JAX, so that whoever explains them needs none."""


class LearnError(ValueError):
    """Learning cannot go on as asked; the message says what was given, what is expected, what to do."""


class NetworkConfigError(LearnError):
    """A network was described wrongly; the message names the field and what is expected."""


class PpoConfigError(LearnError):
    """A setting of PPO is out of range; the message names it and what is expected."""


class CheckpointError(LearnError):
    """A checkpoint cannot be read, or is of another training."""


class DivergedError(LearnError):
    """The numbers of a training are not finite any more; the message says which and when."""


class OffBeliefError(LearnError):
    """Off-belief learning was set up wrongly; the message says what it needs."""
