"""stub"""

from games.yokai.rules import Rules, YokaiState
from games.yokai.scoring import final_reward


def value(rules: Rules, state: YokaiState) -> float:
    return final_reward(rules.grid, state, len(rules.config.colours))
