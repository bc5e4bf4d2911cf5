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
    "army5x5a+conversation": "9367e7e62c2022b59787f34cbd37260feadc884e7ee41b6edb55a3f1e8ea370a",
    "backgammon": "f84f6c7ae09f683f8de067410e402afc5deb638bc08198d84ca453cc8f701924",
    "backgammon+conversation": "cad3917794fa1b147c5dd25efc82a4ce8663b7bcace029f843ff420ee3a8eebf",
    "bargaining": "69bbe98249a105d9a93e3cec446d3944f42c8ccfafd06a12dfc863feca34eb1e",
    "bargaining+closed": "00cfa6849df523a4b1cae004d654e716e91ed5327cd367350f5d58472f326208",
    "connect_four": "662725d4cf8c0e148b7f7edcc326b5d25c2500ba3dbad2c879ba1577503f04f1",
    "connect_four+conversation": "83902fcc07695679604c157383ecf200173e331e549549ea26a9269dc54cd103",
    "gin_rummy": "c01b49ee7ce8421c6d46a9af0736a1cb19f23bf7f887e15f5f48557a813a91e1",
    "gin_rummy+closed": "bfda928a66e138fe006be7dd61a05ecda91f9b22af3070fb720716e8f52056ef",
    "hand_of_war": "9e37ec2442ada12405022217afc8de0b1a80fce09050cf3fa6a7c2c97b3f5f13",
    "hand_of_war+closed": "68e56de9d626260431b15bb99e1da3e87db46d23979c58bf091994dd7871cd81",
    "hand_of_war-s1": "77bfb5633f6d6f94205359278510d265176f8049393a5035229fdb7a09424d64",
    "hand_of_war-s2": "4d0b42b4559f73b3b416fae94b13bf32c13d2197376758ce571f0cdbe4684634",
    "hand_of_war-s3": "1bd56d233f24f412d6da90e2ae675af8aaeb492b9078e1ae153eec2641e4a7b5",
    "hand_of_war-s4": "c131ff8449e5c891d585a903de3411ab5c347bc093dee7079a751831083988d3",
    "leduc_poker": "5876dde608b90cd30df1d1871c8d19b1fe5d8852185c6360bb929fee303115ce",
    "leduc_poker+closed": "9c9d3aed7c4556b6d565a48f4b9d3bf9d45c9e598343f445bd707aa9d461c312",
    "leduc_poker+state": "dba7937709ae617e6e3ebae0d8b197ae7cd77b71847148f4ec7e5a13a6748f18",
    "leduc_poker-s1": "955010770781110ab75d370c4361835f359b1ea2856471f1dc926aa31216e65a",
    "leduc_poker-s2": "c8c2ca21879900e7efef153508aac5043558c891d20707a68ea15600fd87f4cb",
    "leduc_poker-s3": "3a4c7c499742d65cbf2a3c7bcacccabdc48c30e3c025a0eb425b38a5435f3ea7",
    "leduc_poker-s4": "5aa0ef2e303c2fac71b6144c5ae549da89322e02f43d7d4d5992624c4f5519a3",
    "mnk": "d4ae6de85c60ce7c8c0eea081fb27fed72d698126e07c4e8e84bbb84958580b3",
    "mnk+conversation": "44889933e37cc6b397beb2a95adc443512d8ad9b4603071ced0e71627c5d8d57",
    "quadranto": "967288e125b490c116ff893db1ecac9b0e63d98153844c8e852ed822c159f554",
    "quadranto+closed": "942285e2a400968d670cd5a09d74ba517fc1bc4044d5913c429489f63afbba8a",
    "quadranto+state": "3e253b8611edafb8033f7faa7baa59d817a656c206140671c11a7c8ae9492e9b",
    "quadranto-s1": "915a5205f5cef38425594e25568e5ecab1a60459482ee039bef603779e5af18c",
    "quadranto-s2": "d437e3f5b032da757d2c004fd93b0bf1e86241068af45d2a803eaae7122ce549",
    "quadranto-s3": "2bc5b92562e836c82ade8d76e3a063514b87f58190d9f4b7b3e81523c90c3374",
    "quadranto-s4": "0947f84a0d1d8b9a6bb85fe4dda99fdd8fdf3ed0e58f918470f8457df7e48b8f",
    "tic_tac_toe": "5a1df0a201f462a530de4235b7993e173dc028edb9aefab98e85b2072a26615f",
    "tic_tac_toe+conversation": "1e7b2c0d5b4716de131c018ca1536e8d2d91ce725767e719b78f6840ad134dd2",
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
        "16658def2008811b8ae0cb6deb43f46a1f6991f3cc11d62216f38d3837b92e03",
        "16e2e50a0676f22930a2ef0ced0b32eb2e3f49d0ed471956cda2923c22985fb7",
        "264c992bd1fa0b2839848d7736951c7b060a58e7d12066507ce78733696338df",
        "2d9fc874f2fb528b8139019292bce2352e7429f193c31c0b9985522aa9951cdf",
        "30f30f26423f6c4915070589ffc695b139fc31813333250cf7f437ffe2cebde4",
        "323b55db1c64f6d099bc805982855e1f64d82dd35097adb114e28aa7f81e1c58",
        "358e38c847d15c937c4008835e499623f554411c2cb74b98fd77696a39f9e4a8",
        "3a5bacbdb903ad95431783aec03dce9e5abd0eddcbe01abc708f8846608e1cf9",
        "3b2d91900df6055bae3f1c71581525b34766ffe25777e11da335a284e56261a5",
        "3f0237f6ce208448610f7d6df3dab69e9674b18c9b9e4d6d036dbd0ebdb0d326",
        "40f92e8455bf5bf29f130a4a567b5c7334abd2e656851e2a81d4e50dd985051e",
        "4f98c10e4a54105173ad76a77d8a9ddc46ee3160241229b3d143c1831108b947",
        "5c6d3ba3ec96830c2bc43ac30767aabd85ab90b905bf40dfa543f649dc9f6251",
        "5fd84223b7953607198940a9564b512a8c11e2f06bc67bca7ad62c81b790fee5",
        "67f7b86a18472975d92cca0398a62b6149254ffe9cf9ab6bb940c0cfd789307d",
        "6bb94b26d8456f51a24a4c6b667f0440f4068a5e1fc7febe499db29e61aba22b",
        "6f57392bd2ffa4bcc34d88fd81ae40c795e4ff31823c59eb7810ad7eb9e7e35c",
        "746286319210a54cdfdb815a8e2c21a19b0e12e43d503d965384b495f3fab4d6",
        "77c50d63339d36641517f2d189509d0254b669a10216f6e9f2a66b3320717e5b",
        "82e20781b3c2c6f66697f89654d63422d7886234ad94858c8fdda7e141772c2f",
        "8b9073c7b7e0c72438c64d98ad7c2ba910819da8eddc90bb9aed5479271f7477",
        "8d113fb2faa1f2776f349b075129b00c32824105beeec4f4742bddb7e77d5d81",
        "8ee84e09ab5b5dedb08b359c3b2620a4dd9e9500f40cacbcce923d169b1a7a3c",
        "929c61481a789658132adcf2bc3dc782b271c766cf8c4527cf3ad8d42e5498ce",
        "943792abf79b4f53dec14f0182ac3c3731620303ecb2fea1833af9dfef81abc2",
        "9450f6801cc2506d795f92dc5e6d9a7423e31f6ae0cf0998c3f17ecaa3472213",
        "95474cacc147982fbf71526b15ba5a845e4b082c4dfb95d9543f99035e659828",
        "9647ab99567f2eea940bf033daddb54de100a0f61bb36f044513e79e8f611a43",
        "a7a75010956d962cd709b69e9e16b74492c6e8da3b5f3f904690982d50f5ab86",
        "aa212f9d71f793a60ea630e97bb44295a5dc1e16af6b650888769482f782dd37",
        "ad9fcebb4621bc238637ca3dfeb5ac14e439b8e6ab541798d6ee680d7aeadd8a",
        "b26c079410c4b7f32826e9becd693f685c54cdbc66310a858590c26a6d8982aa",
        "b82031176ac6b7ec3d5ee499395318eeb8a521ccee4819bae468792c71f2d323",
        "c1c3cce1a54bc93affd24c59582ca8d9e48305f560e2aadbdc7b858525919a53",
        "cbe5c5a48482218ec23dc882775dbc299239a80bddd4904c456ef1b6de81724a",
        "d222c0920f0dc9b9fe8b32e8e0b14393bf3119698d06abe0f602d86d1af8599e",
        "d229396af791607bd62fe6bd73090dafdd2fe095601db41239d8acac85e39df4",
        "e71598403231037d2a6395a01bd8900703cff1c5a35bb498c826ee597f70ddd1",
        "e73e710252ae336792deaa21561e63440f398d21ee38ba0bce5ee47a2405e5fd",
        "efda94a067b3dd48e41ae409a1126e8a77b648b46362c192d6bc37fc95e6a591",
        "f483300000323860b60f6fde8fbe21327af38d161afaa386fc9886ef118bd191",
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
