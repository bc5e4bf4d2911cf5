"""Where two JSON values differ, in words."""

from typing import Any

from cwm.storage.keys import canonical_json, content_key


def differences(old: Any, new: Any, path: str = "") -> list[str]:
    """Returns one line for each setting in which two JSON values differ, e.g. `seed: 0 in the record, 1 now`."""
    if isinstance(old, dict) and isinstance(new, dict):
        keys = sorted(set(old) | set(new))
        missing = object()
        found: list[str] = []
        for key in keys:
            name = f"{path}.{key}" if path else str(key)
            left, right = old.get(key, missing), new.get(key, missing)
            if left is missing:
                found.append(f"{name}: not in the record, {canonical_json(right)} now")
            elif right is missing:
                found.append(f"{name}: {canonical_json(left)} in the record, not there now")
            else:
                found.extend(differences(left, right, name))
        return found
    if old == new and isinstance(old, bool) == isinstance(new, bool):
        return []
    return [f"{path or 'value'}: {_short(old)} in the record, {_short(new)} now"]


def _short(value: Any) -> str:
    text = canonical_json(value)
    return text if len(text) <= 200 else f"{text[:120]}… ({len(text)} characters, SHA-256 {content_key(value)[:12]})"
