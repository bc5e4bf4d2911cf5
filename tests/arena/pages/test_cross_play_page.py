import re

from arena.agents.specs import parse
from arena.comparison.belief_probe import Probe
from arena.matches import cross_play
from arena.matches.cross_play import CrossPlayConfig
from arena.pages import cross_play_page


def test_the_page_holds_tables_and_curves_and_asks_for_nothing():
    agents = (parse("partner:end-at-once,name=<b>bold</b>"), parse("partner:end-at-once,name=other"))
    found = cross_play.run(CrossPlayConfig("yokai-9c-2p", agents, games=4, seed=1), None)
    probes = [
        Probe("other", alone, 1, number, 0.5, 0.7, True, False, 1.0) for alone in (True, False) for number in (0, 4)
    ]
    page = cross_play_page.render(found, probes, {"full": found})
    assert "&lt;b&gt;bold&lt;/b&gt;" in page
    assert "<b>" not in page
    assert not re.search(r"https?://|<script", page)
    assert page.count("<polyline") == 3
    assert "full, cross-play" in page
    assert "Published figures" in page
