"""`cwm paper --paper overcooked` as a user runs it."""

import json

import pytest

from arena.commands.exit_codes import EXIT_USAGE


def test_tables_are_printed_and_written(cwm, tmp_path):
    done = cwm("paper", "--paper", "overcooked", "--tables", "cat-dog,table-1", "--json", "--output", str(tmp_path))
    told = json.loads(done.out)
    assert [table["title"].split(" (")[0] for table in told["tables"]] == [
        "Cat-Dog",
        "Self-play and state-augmented self-play on the old layouts",
    ]
    assert told["tables"][1]["rows"][0]["SP"] == "259 ± 1"
    assert "| cramped-room | sp | paper | 10 | 259 ± 1 | 257 ± 2 |" in (tmp_path / "overcooked.md").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--tables", "figure-4"], "--tables names 'figure-4': of this paper, figure-3, cat-dog, table-1, table-2."),
        (["--deck", "hle:1"], "--deck is of --paper hanabi: leave it out."),
        (["--games", "nim"], "--paper overcooked goes with --tables, --run, --output and --json alone"),
    ],
)
def test_what_is_of_other_papers_is_refused(refused, words, said):
    done = refused("paper", "--paper", "overcooked", *words)
    assert done.code == EXIT_USAGE
    assert said in done.err
