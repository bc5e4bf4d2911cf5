"""How programs that are not trusted are run during games."""

from dataclasses import asdict, dataclass, field
from typing import Any

from cwm.sandbox.parent import levels
from cwm.sandbox.wire.api import Level, Limits
from cwm.storage.settings import known_fields


@dataclass(frozen=True)
class Runtime:
    """Limits of the agents' workers.

    Attributes:
        level: of the sandbox; written into every record of a game with such an agent.
        move_timeout_s: wall-clock seconds a move, then the game is forfeited.
        memory_mb: address space of one worker, MiB.
    """

    level: Level = field(default_factory=levels.default)
    move_timeout_s: float = 60.0
    memory_mb: int = 512

    @property
    def limits(self) -> Limits:
        return Limits(memory_mb=self.memory_mb, wall_s=self.move_timeout_s)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Runtime":
        """Builds a runtime; keys that a newer version wrote are left out."""
        return cls(**known_fields(cls, data))
