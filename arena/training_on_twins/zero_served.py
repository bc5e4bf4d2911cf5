"""The process in which AlphaZero learns on a twin: `python -m arena.training_on_twins.zero_served`."""

from typing import Final

from arena.training_on_twins import served
from arena.training_on_twins.zero import ZeroLearner, ZeroTask

SMALL: Final = ZeroTask(4, 2, 2, 1, simulations=2, hidden=2, layers=1, max_actions=2)


def main() -> None:
    """Serves one twin until its parent closes the pipe."""
    served.serve(ZeroLearner, ZeroTask.from_json, SMALL)


if __name__ == "__main__":
    main()
