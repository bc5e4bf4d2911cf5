"""Driving as a `PosgModel`; `RULES.md` is the specification.

Rules and maps: POSGGym 0.6.0 (Schwartz et al. 2025; MIT, see NOTICE), whose vehicles move one after the other in an
order that is drawn in each step. Poses and tables are those of `roads`.
"""

import itertools
import random
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from games.api import Json
from games.posg.api import Choose, Joint, Moved, PosgError, PosgInfo
from games.posg.chance import enumerating, uniform_over
from games.posg.driving.roads import ACTIONS, HEADINGS, MAPS, Roads, Seen, heading_after, stopped
from games.posg.inference.filtering import InfersByItsRules

Traffic: TypeAlias = tuple[int, ...]
"""Number of the map, then five numbers a vehicle: pose, destination, `ENDS`, least and first distance to go."""

CRASH: Final = -1.0
ARRIVAL: Final = 0.5
PROGRESS: Final = 0.5
"""In all, for a way driven to its end."""

ARRIVED: Final = 1
CRASHED: Final = 2
TOLD: Final = 4
"""Added to how a vehicle ended in the step after its driver was told."""
ENDS: Final = ("", "arrived", "crashed", "arrived, crashed")

_NUMBER: Final = {action: number for number, action in enumerate(ACTIONS)}


class Driving(InfersByItsRules):
    """State: a `Traffic`. Observation: `Seen`."""

    def __init__(
        self,
        grid: str = "roundabout",
        agents: int = 2,
        view: tuple[int, int, int] = (3, 1, 1),
        steps: int = 50,
    ) -> None:
        """Makes the game.

        Args:
            grid: name of its map.
            agents: number of vehicles, 1 to 4.
            view: cells that a driver sees ahead, behind and to each side.
            steps: after which it is broken off.

        Raises:
            PosgError: there is no such map, or no room for so many.
        """
        if grid not in MAPS or not 1 <= agents <= 4:
            raise PosgError(f"driving has 1 to 4 agents on {', '.join(MAPS)}; not {agents} on {grid!r}.")
        self._prepare("driving", [MAPS[grid]], agents, view, steps)

    def _prepare(
        self, name: str, maps: Sequence[Sequence[str]], agents: int, view: tuple[int, int, int], steps: int
    ) -> None:
        self.info = PosgInfo(
            id=name,
            agent_names=tuple(f"vehicle_{number}" for number in range(agents)),
            utility="general_sum",
            actions=(ACTIONS,) * agents,
            min_step=CRASH,
            max_step=ARRIVAL + PROGRESS,
            min_utility=CRASH,
            max_utility=ARRIVAL + PROGRESS,
            step_limit=steps,
            symmetric=True,
        )
        self._maps, self.view = maps, view
        self._roads: dict[int, Roads] = {}
        self._given: dict[tuple[int, Seen], list[Traffic]] = {}
        self._agents = range(agents)
        self._pairs = [(first, second) for first in range(5) for second in range(5)]

    def roads(self, number: int = 0) -> Roads:
        """Returns what is known of a map."""
        found = self._roads.get(number)
        if found is None:
            found = self._roads[number] = Roads(self._maps[number], self.view)
        return found

    def initial_state(self, choose: Choose) -> Traffic:
        number = 0
        if len(self._maps) > 1:
            number = int(choose("map", uniform_over(range(len(self._maps)))))
        return self._started(number, {}, choose)

    def initial_state_given(self, agent: int, observation: Seen, choose: Choose) -> Traffic:
        """Returns a start in which `agent` is told an observation; all such starts are equally likely."""
        key = agent, observation
        if key not in self._given:
            self._given[key] = self._starts_given(agent, observation)
        found = self._given[key]
        return found[int(choose("start", uniform_over(range(len(found)))))]

    def _starts_given(self, agent: int, observation: Seen) -> list[Traffic]:
        roads = self.roads()
        _, _, cell, end, _, _ = observation
        if len(self._maps) > 1 or set(roads.starts) & set(roads.ends):
            raise PosgError(f"{self.info.id} draws no starts given what a driver is told: they are not equally likely.")
        starts: list[Traffic] = []
        if cell in roads.starts and end in roads.ends:
            ways = enumerating(lambda choose: self._started(0, {agent: (cell, end)}, choose))
            starts = [state for _, state in ways if self._told(roads, state, agent) == observation]
        if not starts:
            raise PosgError(f"no start of {self.info.id} shows vehicle {agent} {observation!r}.")
        return starts

    def _started(self, number: int, given: Mapping[int, tuple[int, int]], choose: Choose) -> Traffic:
        roads, state = self.roads(number), [number]
        starts, ends = ({place[kind] for place in given.values()} for kind in (0, 1))
        for agent in self._agents:
            if agent in given:
                start, end = given[agent]
            else:
                free = [cell for cell in roads.starts if cell not in starts]
                start = self._cell(roads, choose(f"start of vehicle {agent}", self._places(roads, free)))
                starts.add(start)
                open_ends = [cell for cell in roads.ends if cell not in ends and cell != start]
                end = self._cell(roads, choose(f"destination of vehicle {agent}", self._places(roads, open_ends)))
                ends.add(end)
            where = roads.ends.index(end)
            far = roads.far[where][start]
            state += [stopped(start << 4, 0), where, 0, far, far]
        return tuple(state)

    def active(self, state: Traffic) -> Sequence[int]:
        return [agent for agent in self._agents if not state[5 * agent + 3]]

    def legal_actions(self, state: Traffic, agent: int) -> Sequence[str]:
        return () if state[5 * agent + 3] else ACTIONS

    def move(self, state: Traffic, actions: Joint, choose: Choose) -> Moved:
        going = self.active(state)
        order: Sequence[int] = going
        if len(going) > 1:
            order = choose("order of vehicles", uniform_over([list(one) for one in itertools.permutations(going)]))
        return self._moved(state, [_NUMBER[action] for action in actions], order)

    def _moved(self, state: Traffic, actions: Sequence[int], order: Sequence[int]) -> Moved:
        """Moves vehicles one after the other, as `RULES.md` tells it."""
        roads = self.roads(state[0])
        after = list(state)
        for agent in self._agents:
            if state[5 * agent + 3]:
                after[5 * agent + 3] |= TOLD
        for agent in order:
            place = 5 * agent + 1
            if after[place + 2]:
                continue  # hit before it moved
            self._drive(roads, after, place, actions[agent])
        return tuple(after), self._rewards(state, after), [bool(after[5 * agent + 3]) for agent in self._agents]

    def _drive(self, roads: Roads, after: list[int], place: int, action: int) -> None:
        """Moves the vehicle whose numbers begin at `place`, as far as nobody is in its way."""
        pose, end, _, least, _ = after[place : place + 5]
        others = {after[5 * agent + 1] >> 4: 5 * agent + 1 for agent in self._agents if 5 * agent + 1 != place}
        cell, moved = pose >> 4, roads.after[action][pose]
        for there in roads.way[action][pose]:
            if there in others:
                after[others[there] + 2] |= CRASHED
                after[place + 2] = CRASHED
                heading = heading_after(action, pose)
                moved = (cell << 4) + heading * 4 + (moved & 3) if cell != pose >> 4 else stopped(pose, heading)
                break
            cell = there
        after[place] = moved
        if cell == roads.ends[end]:
            after[place + 2] |= ARRIVED
        after[place + 3] = min(least, roads.far[end][cell])

    def _rewards(self, state: Traffic, after: Sequence[int]) -> list[float]:
        rewards = []
        for place in range(1, len(state), 5):
            ended, now = state[place + 2], after[place + 2]
            paid = 0.0 if ended else CRASH if now & CRASHED else ARRIVAL if now & ARRIVED else 0.0
            rewards.append(paid + PROGRESS * ((state[place + 3] - after[place + 3]) / state[place + 4]))
        return rewards

    def sample_step(self, state: Traffic, actions: Joint, rng: random.Random) -> Moved:
        """As `move`; the order is drawn only where two vehicles may get in each other's way."""
        numbers = [_NUMBER[action] for action in actions]
        going = self.active(state)
        if len(state) == 11 and len(going) == 2:
            roads = self.roads(state[0])
            number, pose, end, _, least, first, pose_1, end_1, _, least_1, first_1 = state
            one, two = numbers
            if not roads.touched[one][pose] & roads.touched[two][pose_1]:
                pose, pose_1 = roads.after[one][pose], roads.after[two][pose_1]
                far, far_1 = roads.far[end][pose >> 4], roads.far[end_1][pose_1 >> 4]
                paid = paid_1 = 0.0
                ended, ended_1 = int(far == 0), int(far_1 == 0)
                if far < least:
                    paid = ended * ARRIVAL + PROGRESS * ((least - far) / first)
                    least = far
                if far_1 < least_1:
                    paid_1 = ended_1 * ARRIVAL + PROGRESS * ((least_1 - far_1) / first_1)
                    least_1 = far_1
                after = (number, pose, end, ended, least, first, pose_1, end_1, ended_1, least_1, first_1)
                return after, (paid, paid_1), (far == 0, far_1 == 0)
            return self._moved(state, numbers, going if rng.random() < 0.5 else going[::-1])
        return self._moved(state, numbers, rng.sample(going, len(going)) if len(going) > 1 else going)

    def observe(self, state: Traffic, actions: Joint | None, choose: Choose) -> Sequence[Seen | None]:
        roads = self.roads(state[0])
        return [self._told(roads, state, agent) for agent in self._agents]

    def sample_observations(self, state: Traffic, actions: Joint | None, rng: random.Random) -> Sequence[Seen | None]:
        """As `observe`: observations have no chance."""
        roads = self.roads(state[0])
        return [self._told(roads, state, agent) for agent in self._agents]

    def _told(self, roads: Roads, state: Traffic, agent: int) -> Seen | None:
        place = 5 * agent + 1
        if state[place + 2] & TOLD:
            return None
        others = [state[other] >> 4 for other in range(1, len(state), 5) if other != place]
        return roads.seen(state[place], state[place + 1], state[place + 2], others)

    def rollout(self, state: Traffic, agent: int, rng: random.Random, limit: int, discount: float) -> float:
        """Returns the discounted return of one agent, while all drive at random."""
        if len(state) != 11:
            return self._slow_rollout(state, agent, rng, limit, discount)
        roads, uniform, pairs, total, scale = self.roads(state[0]), rng.random, self._pairs, 0.0, 1.0
        after, touched, own = roads.after, roads.touched, 5 * agent + 1
        pose, end, ended, least, first = state[own : own + 5]
        pose_1, end_1, ended_1, least_1, first_1 = state[7 - own : 12 - own]
        far, far_1 = roads.far[end], roads.far[end_1]
        for _ in range(limit):
            if ended:
                break
            one, two = pairs[int(uniform() * 25.0)]
            if ended_1:
                two = 0
            if touched[one][pose] & (1 << (pose_1 >> 4) if ended_1 else touched[two][pose_1]):
                here = (state[0], pose, end, 0, least, first, pose_1, end_1, ended_1, least_1, first_1)
                order = (0,) if ended_1 else (0, 1) if uniform() < 0.5 else (1, 0)
                then, paid, _ = self._moved(here, (one, two), order)
                _, pose, _, ended, least, _, pose_1, _, ended_1, _, _ = then
                total += scale * paid[0]
            else:
                pose = after[one][pose]
                if not ended_1:
                    pose_1 = after[two][pose_1]
                    ended_1 = int(far_1[pose_1 >> 4] == 0)
                near = far[pose >> 4]
                if near < least:
                    ended = int(near == 0)
                    total += scale * (ended * ARRIVAL + PROGRESS * ((least - near) / first))
                    least = near
            scale *= discount
        return total

    def _slow_rollout(self, state: Traffic, agent: int, rng: random.Random, limit: int, discount: float) -> float:
        total, scale = 0.0, 1.0
        for _ in range(limit):
            if state[5 * agent + 3]:
                break
            state, paid, _ = self.sample_step(state, [rng.choice(ACTIONS) for _ in self._agents], rng)  # type: ignore[arg-type]
            total += scale * paid[agent]
            scale *= discount
        return total

    def ending(self, state: Traffic) -> Mapping[str, Json]:
        """Returns by vehicle how it ended: `success`, `crash` or `timeout`."""
        names = {0: "timeout", ARRIVED: "success"}
        return {name: names.get(state[5 * agent + 3] & 3, "crash") for agent, name in enumerate(self.info.agent_names)}

    def state_to_json(self, state: Traffic) -> Json:
        roads = self.roads(state[0])
        vehicles = []
        for place in range(1, len(state), 5):
            pose, end, ended, least, first = state[place : place + 5]
            vehicles.append(
                {
                    "cell": self._place(roads, pose >> 4),
                    "heading": HEADINGS[pose >> 2 & 3],
                    "speed": (pose & 3) - 1,
                    "destination": self._place(roads, roads.ends[end]),
                    "ended": ENDS[ended & 3],
                    "told": bool(ended & TOLD),
                    "least": least,
                    "first": first,
                }
            )
        return {"map": state[0], "vehicles": vehicles}

    def state_from_json(self, described: Json) -> Traffic:
        state = [int(described["map"])]
        roads = self.roads(state[0])
        for told in described["vehicles"]:
            cell, heading = self._cell(roads, told["cell"]), HEADINGS.index(told["heading"])
            state += [
                (cell * 4 + heading) * 4 + told["speed"] + 1,
                roads.ends.index(self._cell(roads, told["destination"])),
                ENDS.index(told["ended"]) + TOLD * told["told"],
                told["least"],
                told["first"],
            ]
        return tuple(state)

    def observation_to_json(self, agent: int, observation: Seen) -> Json:
        view, speed, cell, end, arrived, crashed = observation
        across, roads = 2 * self.view[2] + 1, self.roads()
        return {
            "view": [view[start : start + across] for start in range(0, len(view), across)],
            "speed": speed,
            "cell": self._place(roads, cell),
            "destination": self._place(roads, end),
            "arrived": bool(arrived),
            "crashed": bool(crashed),
        }

    def observation_from_json(self, agent: int, described: Json) -> Seen:
        """Returns an observation as the model has it."""
        roads = self.roads()
        return (
            "".join(described["view"]),
            described["speed"],
            self._cell(roads, described["cell"]),
            self._cell(roads, described["destination"]),
            int(described["arrived"]),
            int(described["crashed"]),
        )

    def vector_bounds(self, agent: int) -> tuple[Sequence[float], Sequence[float]]:
        """Returns the bounds of four signs a cell of the view, four speeds, two cells, arrived and crashed."""
        ahead, behind, side = self.view
        signs = 4 * (ahead + behind + 1) * (2 * side + 1) + 4
        size = (self.roads().width - 1.0, self.roads().height - 1.0)
        return (0.0,) * (signs + 6), ((1.0,) * signs + size + size + (1.0, 1.0))

    def encode(self, agent: int, observation: Seen) -> Sequence[float]:
        view, speed, cell, end, arrived, crashed = observation
        signs = [float(sign == kind) for sign in view for kind in "V#.D"]
        speeds = [float(speed == one) for one in (-1, 0, 1, 2)]
        places = [*self._place(self.roads(), cell), *self._place(self.roads(), end)]
        return (*signs, *speeds, *map(float, (*places, arrived, crashed)))

    def render(self, state: Traffic, agent: int | None = None) -> str:
        roads, places = self.roads(state[0]), range(1, len(state), 5)
        if agent is None:
            ends = [roads.ends[state[place + 1]] for place in places]
            return "\n".join(roads.drawn([(state[place] >> 4, str(place // 5)) for place in places], ends))
        place = 5 * agent + 1
        others = [state[other] >> 4 for other in places if other != place]
        view = roads.seen(state[place], state[place + 1], state[place + 2], others)[0]
        across = 2 * self.view[2] + 1
        return "\n".join(view[start : start + across] for start in range(0, len(view), across))

    def _places(self, roads: Roads, cells: Sequence[int]) -> list[tuple[Json, float]]:
        return uniform_over([self._place(roads, cell) for cell in cells])

    def _place(self, roads: Roads, cell: int) -> list[int]:
        return [cell % roads.width, cell // roads.width]

    def _cell(self, roads: Roads, place: Json) -> int:
        column, row = place
        return int(row) * roads.width + int(column)
