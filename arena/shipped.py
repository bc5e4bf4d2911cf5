"""Programs that ship with the project, known by hash: the only ones that run where no sandbox holds.

On a machine without a strong isolation level (macOS, other processors) a language model's program is refused, unless
the user allows it. The recorded completions of the demo were read before they were shipped: their programs may run at
level `process` there, with a notice.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from arena import console
from arena.run_settings import DEFAULT_LLM, RunSettings
from cwm.llm import recordings
from cwm.sandbox import levels
from cwm.sandbox.api import Level, SandboxUnavailableError

RECORDINGS: Final[dict[str, str]] = {
    "army5x5a": "298a0c10c4c99b94949437eda21d1ba5158747d8cb453e6a16d77ae0cedbaa5a",
    "backgammon": "f84f6c7ae09f683f8de067410e402afc5deb638bc08198d84ca453cc8f701924",
    "bargaining": "2329b8f5e82969f51a3334c820c1f1aa53724c2741b8005e64984d0d5fd4644e",
    "connect_four": "662725d4cf8c0e148b7f7edcc326b5d25c2500ba3dbad2c879ba1577503f04f1",
    "gin_rummy": "c01b49ee7ce8421c6d46a9af0736a1cb19f23bf7f887e15f5f48557a813a91e1",
    "hand_of_war": "9e37ec2442ada12405022217afc8de0b1a80fce09050cf3fa6a7c2c97b3f5f13",
    "leduc_poker": "5876dde608b90cd30df1d1871c8d19b1fe5d8852185c6360bb929fee303115ce",
    "mnk": "d270f0e6d3475b7a916a2f8a3249408ef6ca6e361e71e2bcff2c3796df514b8f",
    "quadranto": "967288e125b490c116ff893db1ecac9b0e63d98153844c8e852ed822c159f554",
    "tic_tac_toe": "5a1df0a201f462a530de4235b7993e173dc028edb9aefab98e85b2072a26615f",
    "yokai-16c-2p": "f97573255f754367dc4f48b81954e761ae523e4ea28feec4bcb1c7655197fc07",
    "yokai-16c-2p-s1": "94d7cf442660acf89a5a8c81afb7fea4cbd4bc23009d45d8a5f43b5b37eee47e",
    "yokai-9c-2p": "5b39157cb878b090d31b70cb08a61bf92ff9870027a486ec394a624cc2b22f58",
    "yokai-9c-2p-s1": "4571139b6cb74fe514ce3917f55bd8b313fe56c97502744c96adb6ddece3b8b5",
    "yokai-9c-2p-s2": "4f8ceef9fc6e1fe5265e0ba942d3f45a6e3feae66d4ded6201ab18f7d2d80746",
    "yokai-9c-2p-s3": "1237702c05c04dbf455c8d347308d297355de6bed42105036145b72c4dc187f4",
    "yokai-9c-2p-s4": "6ccc4017f5f432b292693ec2e7fa17c09abfe535d4f9aba626984bad50122f46",
    "yokai-9c-3p": "4d18a6f8389e66098464da6aa12161a9c03d98af1fd0b0c950f3ac882db3364f",
    "yokai-9c-3p-s1": "c5e7a4485afac29e6af0a02fec84ee3e3ba44f182baff2a47011645d7edd1c7c",
    "yokai-9c-4p": "1dcac814f4bd604211ee72d7bdc4977ead2da8880f9d259c10a34055283a4e41",
    "yokai-9c-4p-s1": "bef94a762878f55d402f13c00cac3bea3a8691258ed2ff336b7e9d9b0f570415",
}
"""SHA-256 of each recording by its name, see `recording_hash`."""
MODELS: Final[frozenset[str]] = frozenset(
    {
        "2d9fc874f2fb528b8139019292bce2352e7429f193c31c0b9985522aa9951cdf",
        "323b55db1c64f6d099bc805982855e1f64d82dd35097adb114e28aa7f81e1c58",
        "3cf29448268e5087454a3ee4f5527862a0f26a23e549cd85810008c817f1b425",
        "55b6f1cee1667e6932f0c59c2f24bdce3a1d15415d503c984b050c3bf63e913e",
        "5fd84223b7953607198940a9564b512a8c11e2f06bc67bca7ad62c81b790fee5",
        "6bb94b26d8456f51a24a4c6b667f0440f4068a5e1fc7febe499db29e61aba22b",
        "6f57392bd2ffa4bcc34d88fd81ae40c795e4ff31823c59eb7810ad7eb9e7e35c",
        "8ee84e09ab5b5dedb08b359c3b2620a4dd9e9500f40cacbcce923d169b1a7a3c",
        "929c61481a789658132adcf2bc3dc782b271c766cf8c4527cf3ad8d42e5498ce",
        "9647ab99567f2eea940bf033daddb54de100a0f61bb36f044513e79e8f611a43",
        "a7a75010956d962cd709b69e9e16b74492c6e8da3b5f3f904690982d50f5ab86",
        "b26c079410c4b7f32826e9becd693f685c54cdbc66310a858590c26a6d8982aa",
        "b82031176ac6b7ec3d5ee499395318eeb8a521ccee4819bae468792c71f2d323",
        "d222c0920f0dc9b9fe8b32e8e0b14393bf3119698d06abe0f602d86d1af8599e",
        "e71598403231037d2a6395a01bd8900703cff1c5a35bb498c826ee597f70ddd1",
        "e73e710252ae336792deaa21561e63440f398d21ee38ba0bce5ee47a2405e5fd",
        "efda94a067b3dd48e41ae409a1126e8a77b648b46362c192d6bc37fc95e6a591",
        "f85a73bef4dd9a040da5347a814007ecfad210a62a7ffd8b204521ed3f87c0cf",
        "fc9a45c5ee7e46c4736e3fe98b8bee3cbe7080429108615d890c656ac2b86d92",
        "fd17ea615e50620d7303ea9a8ce248f0451d649227a9e2a40641938ddee32bc6",
        "fe782c044f5a4569b29274b17fb9f874380d0ee695fffb614754ccd01a39adfe",
    }
)
"""SHA-256 of the models that the recordings lead to, see `ModelBundle.hash`."""


def recording_hash(name: str) -> str:
    """Returns the SHA-256 of the recorded completions of a recording, as lines of JSON."""
    lines = [record.line() for record in recordings.load(name).records]
    return hashlib.sha256("\n".join(lines).encode("utf-8")).hexdigest()


def settings_for(settings: RunSettings) -> RunSettings:
    """Returns a new run's settings, at level `process` where nothing better is to be had and the run is a shipped one.

    Raises:
        SandboxUnavailableError: its programs may not run here.
    """
    if _is_shipped(settings) and not _strong(settings.level):
        settings = replace(settings, level=_lowered())
    check(settings)
    return settings


def check(settings: RunSettings) -> None:
    """Checks that the programs of a run may run at its level, before anything is paid for.

    Raises:
        SandboxUnavailableError: they may not.
    """
    if settings.level == "process" and not levels.process_allowed() and not _is_shipped(settings):
        raise SandboxUnavailableError(
            "The run is at isolation level 'process', which does not stop a hostile program; add "
            "--allow-unsafe-process to go on with it, or start it anew."
        )
    levels.ensure(settings.level)


def level_of(models: Sequence[str | None]) -> Level:
    """Returns the level at which models run together.

    Args:
        models: hashes, see `ModelBundle.hash`; None for one that is not known.

    Raises:
        SandboxUnavailableError: one of them may not run here.
    """
    level = levels.default()
    if not models:
        return level
    if not _strong(level) and set(models) <= MODELS:
        return _lowered()
    levels.ensure(level)
    return level


def _strong(level: Level) -> bool:
    return level not in levels.STRONG or levels.probe(level).problem is None


def _is_shipped(settings: RunSettings) -> bool:
    if settings.llm != DEFAULT_LLM or settings.seed not in recordings.bundled_seeds(settings.recorded):
        return False
    name = recordings.name_of(settings.recorded, settings.seed)
    return RECORDINGS.get(name) == recording_hash(name)


def _lowered() -> Level:
    console.notices.print(
        "no sandbox that holds against hostile programs is to be had here; these programs ship with the project and "
        "run at level process (`cwm doctor` says more)"
    )
    return "process"
