from arena.face import OpenedRun as OpenedRun
from arena.face import PlayedTournament as PlayedTournament
from arena.face import make_agent as make_agent
from arena.face import make_game as make_game
from arena.face import make_planner as make_planner
from arena.face import open_recording as open_recording
from arena.face import open_run as open_run
from arena.face import play_match as play_match
from arena.face import play_tournament as play_tournament
from arena.face import synthesize as synthesize
from arena.interop.environments import gymnasium_env as gymnasium_env
from arena.interop.environments import pettingzoo_env as pettingzoo_env
from arena.matches.replay import make_position as make_position
from cwm.llm.caps import Caps as Caps
from cwm.trajectories.writer import TrajectoryWriter as TrajectoryWriter

__version__: str

def put_ours_first() -> None: ...
def begin(work: bytes, *arguments: object) -> object: ...
