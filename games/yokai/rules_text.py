from games.yokai.config import Config


def rules_text(config: Config, memory: bool = False) -> str:
    return ""
