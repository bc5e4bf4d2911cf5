"""Settings that are stored with what was made by them: as plain JSON, of which keys are hashes."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, ClassVar, Self, get_args


def known_fields(cls: type[Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what a record says of the fields of a dataclass; what a newer version wrote is passed over."""
    return {item.name: data[item.name] for item in fields(cls) if item.name in data}


class Settings:
    """What frozen dataclasses of settings have in common.

    Attributes:
        error: class of the errors about a setting.
        left_out: fields that records from before there were such settings lack. Where all of one row have these values
            they are not stored, so that keys and configurations stay what they were.
    """

    error: ClassVar[type[Exception]] = ValueError
    left_out: ClassVar[Sequence[Mapping[str, Any]]] = ()

    def to_json(self) -> dict[str, Any]:
        """Returns all settings, but those of `left_out`."""
        data: dict[str, Any] = asdict(self)  # type: ignore[call-overload]
        for row in self.left_out:
            if all(getattr(self, name) == value for name, value in row.items()):
                data = {name: value for name, value in data.items() if name not in row}
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Builds settings that a user wrote.

        Raises:
            Exception: of class `error`: a key is unknown, or a value out of range.
        """
        known = [item.name for item in fields(cls)]  # type: ignore[arg-type]
        unknown = sorted(set(data) - set(known))
        if unknown:
            raise cls.error(f"unknown settings {unknown}; known are {', '.join(known)}")
        return cls(**data)

    @classmethod
    def from_record(cls, data: Mapping[str, Any]) -> Self:
        """Builds settings out of an old record: those that are no longer known are passed over."""
        return cls(**known_fields(cls, data))

    def _check_choice(self, name: str, choices: Any) -> None:
        if getattr(self, name) not in get_args(choices):
            raise self.error(f"{name} is {getattr(self, name)!r}; it must be one of {get_args(choices)}")

    def _check_least(self, least: float, *names: str) -> None:
        for name in names:
            value = getattr(self, name)
            if value is not None and value < least:
                raise self.error(f"{name} is {value}; it must be at least {least}")
