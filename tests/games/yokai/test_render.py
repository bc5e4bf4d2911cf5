def test_whole_state_is_drawn_with_all_colours(small, deal, play):
    state = deal(small, "rgbrgbrgb", "r rg gb rb")
    state = play(small, state, "observe 4", "observe 2", "move 2 to 2,3", "reveal 1", "observe 0", "observe 1")
    state = play(small, state, "move 8 to 2,2", "place 1 at 4,4")
    assert small.render(state).splitlines() == [
        "yokai-9c-2p: turn 2, sub-step 1, player 0 to act",
        "      0    1    2    3    4    5    6    7    8",
        " 0    .    .    .    .    .    .    .    .    .",
        " 1    .    .    .    .    .    .    .    .    .",
        " 2    .    .   b8   b2    .    .    .    .    .",
        " 3    .    .    .   r0   g1    .    .    .    .",
        " 4    .    .    .   r3  [g4]  b5    .    .    .",
        " 5    .    .    .   r6   g7    .    .    .    .",
        " 6    .    .    .    .    .    .    .    .    .",
        " 7    .    .    .    .    .    .    .    .    .",
        " 8    .    .    .    .    .    .    .    .    .",
        "Hint 0: red, face down",
        "Hint 1: red-green, placed on card 4",
        "Hint 2: green-blue, face down",
        "Hint 3: red-blue, face down",
        "Latest actions: observe 4, observe 2, move 2 to 2,3, reveal 1, observe 0, observe 1, move 8 to 2,2, "
        "place 1 at 4,4",
    ]


def test_a_players_drawing_hides_what_the_player_does_not_see(small, deal, play):
    state = play(small, deal(small, "rgbrgbrgb", "r rg gb rb"), "observe 4")
    drawing = small.render(state, 0)
    assert "sub-step 2, player 0 to act, as player 0 sees it" in drawing
    assert " ?3   g4   ?5" in drawing
    assert "Hint 0: ?, face down" in drawing
    assert "g4" not in small.render(state, 1)


def test_dealing_and_the_end_are_named(small, deal, play):
    assert "dealing" in small.render(small.initial_state())
    assert "over after 0 turns" in small.render(play(small, deal(small), "end"))
