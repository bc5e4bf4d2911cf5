"""What recorded answers share with this project's own source, what their prompts hold of it, and what they share among
themselves: answers that nobody could have copied from each other tell how much is alike without any copying."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cwm.interface.answers import blocks
from cwm.llm.recordings import Recording
from cwm.quality.similarity import SharedRun, Source


@dataclass(frozen=True)
class RecordedProgram:
    """One program of a recording.

    Attributes:
        recording: its name.
        game: of the recording.
        purpose: what was asked for.
        source: the program.
        prompt: all that the language model was shown.
    """

    recording: str
    game: str
    purpose: str
    source: str
    prompt: str


@dataclass(frozen=True)
class Likeness:
    """What the programs of one recording share, at their longest runs of tokens.

    Attributes:
        recording: its name.
        programs: how many it has.
        shared: with our source.
        outside: with our source, cut at what the prompt holds.
        others: the same with the answers of other recordings of the game; None where there is none.
    """

    recording: str
    programs: int
    shared: SharedRun
    outside: SharedRun
    others: SharedRun | None


def programs_of(recordings: Sequence[Recording]) -> list[RecordedProgram]:
    """Returns the Python programs of all recorded answers, in order."""
    return [
        RecordedProgram(
            recording=recording.name,
            game=recording.header.game,
            purpose=record.request.purpose,
            source=block.text,
            prompt="\n".join(message.text for message in record.request.messages),
        )
        for recording in recordings
        for record in recording.records
        for block in blocks(record.completion.text)
        if block.language == "python"
    ]


def likenesses(
    recordings: Sequence[Recording], beside: Sequence[Recording], files: Sequence[tuple[str, str]]
) -> Iterator[Likeness]:
    """Yields what each recording shares, one after the other; those without a program are passed over.

    Args:
        recordings: which to compare.
        beside: those of the same game in it are the other answers.
        files: (name, Python source) pairs: our own.
    """
    every, ours = programs_of(beside), Source(files)
    for recording in recordings:
        own = programs_of([recording])
        written = {program.source for program in own}
        # Recordings of one game may share an answer.
        others = [
            (program.recording, program.source)
            for program in every
            if program.game == recording.header.game
            and program.recording != recording.name
            and program.source not in written
        ]
        if own:
            answers = Source(others)
            yield Likeness(
                recording.name,
                len(own),
                _longest([ours.longest_run(program.source) for program in own]),
                _longest([ours.longest_run_outside(program.source, program.prompt) for program in own]),
                _longest([answers.longest_run_outside(program.source, program.prompt) for program in own])
                if others
                else None,
            )


def _longest(runs: Sequence[SharedRun]) -> SharedRun:
    return max(runs, key=lambda run: run.length)
