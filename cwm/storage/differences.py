"""Where two JSON values differ, in words."""

from typing import Any

from cwm.storage.keys import canonical_json, content_key


def differences(old: Any, new: Any, path: str = "") -> list[str]:
    """Returns one line for each setting in which two JSON values differ, e.g. `seed: 0 in the record, 1 now`."""
    if isinstance(old, dict) and isinstance(new, dict):
        keys = sorted(set(old) | set(new))
        lines: list[str] = []
        for key in keys:
            name = f"{path}.{key}" if path else str(key)
            if key not in old:
                lines.append(f"{name}: not in the record, {_short(new[key])} now")
            elif key not in new:
                lines.append(f"{name}: {_short(old[key])} in the record, not there now")
            else:
                lines.extend(differences(old[key], new[key], name))
        return lines
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        return [line for index, pair in pairs for line in differences(*pair, f"{path}[{index}]")]
    if old == new and isinstance(old, bool) == isinstance(new, bool):
        return []
    return [f"{path or 'value'}: {_short(old)} in the record, {_short(new)} now"]


def _short(value: Any) -> str:
    text = canonical_json(value)
    return text if len(text) <= 200 else f"{text[:120]}… ({len(text)} characters, SHA-256 {content_key(value)[:12]})"
