// Backgammon: a move is put together from its steps, a click on where a checker starts and one on where it ends.
import { el, svg, touch } from "./dom.js";

const [WIDTH, HEIGHT, GAP, TALL, R] = [44, 400, 40, 160, 19];
const SIGNS = ["x", "o"];
// Upper left corner of the column of a point as `x` counts it: x's home is on the right, above.
const left = (point) => { const at = point <= 12 ? 12 - point : point - 13; return at * WIDTH + (at >= 6 ? GAP : 0); };
const BAR = 6 * WIDTH;
const OFF = 12 * WIDTH + GAP;

function without(parts, one) {
  const at = parts.indexOf(one);
  return at < 0 ? null : [...parts.slice(0, at), ...parts.slice(at + 1)];
}
// What is left to choose of each move that begins with what was chosen, in any order.
function rests(legal, chosen) {
  return legal.map((action) => chosen.reduce((parts, one) => parts && without(parts, one), action.split(" "))).map((rest, number) => [legal[number], rest]).filter(([, rest]) => rest);
}
function stack(root, seat, count, x, top, down) {
  const shown = Math.min(count, 5);
  for (let number = 0; number < shown; number += 1) {
    const cy = down ? top + R + number * 30 : top - R - number * 30;
    root.append(svg("circle", { class: `checker ${seat ? "one" : "zero"}`, cx: x + WIDTH / 2, cy, r: R - 1 }));
    if (seat) root.append(svg("circle", { class: "checker-ring", cx: x + WIDTH / 2, cy, r: R - 8 }));
    if (number === shown - 1 && count > shown) root.append(svg("text", { class: "checker-count", x: x + WIDTH / 2, y: cy }, count));
  }
}

export function backgammon(seen, legal, play, before, about) {
  const now = seen.observation;
  const own = SIGNS.indexOf(now.turn_of);
  const root = svg("svg", { class: "board", viewBox: `-2 -18 ${OFF + 54} ${HEIGHT + 36}`, role: "group", "aria-label": "Board" });
  root.append(svg("rect", { class: "light", x: 0, y: 0, width: OFF, height: HEIGHT, rx: 6 }), svg("rect", { class: "dark", x: BAR, y: 0, width: GAP, height: HEIGHT }));
  for (let point = 1; point <= 24; point += 1) {
    const [x, up] = [left(point), point <= 12];
    const changed = before?.observation?.points && SIGNS.some((sign) => before.observation.points[sign][sign === "x" ? point - 1 : 24 - point] !== now.points[sign][sign === "x" ? point - 1 : 24 - point]);
    root.append(svg("path", { class: `${point % 2 ? "point-odd" : "point-even"}${changed ? " point-new" : ""}`, d: up ? `M${x + 2} 0h${WIDTH - 4}l${2 - WIDTH / 2} ${TALL}z` : `M${x + 2} ${HEIGHT}h${WIDTH - 4}l${2 - WIDTH / 2} ${-TALL}z` }));
    const named = own === 1 ? 25 - point : point;
    root.append(svg("text", { class: "axis", x: x + WIDTH / 2, y: up ? -9 : HEIGHT + 10 }, named));
    SIGNS.forEach((sign, seat) => stack(root, seat, now.points[sign][seat ? 24 - point : point - 1], x, up ? 0 : HEIGHT, up));
  }
  SIGNS.forEach((sign, seat) => {
    stack(root, seat, now.bar[sign], BAR - 2, seat ? HEIGHT / 2 + 5 : HEIGHT / 2 - 5, Boolean(seat));
    root.append(svg("text", { class: "axis", x: OFF + 26, y: seat ? HEIGHT - 26 : 14 }, `${sign} off`), svg("text", { class: "axis", x: OFF + 26, y: seat ? HEIGHT - 8 : 32 }, now.off[sign]));
  });
  // Where the mover's own numbers lie.
  const spotOf = (name) => {
    if (name === "bar") return [BAR, HEIGHT / 2 - 60, GAP, 120];
    if (name === "off") return [OFF + 2, own ? HEIGHT - 110 : 44, 48, 66];
    const point = own === 1 ? 25 - Number(name) : Number(name);
    return point >= 1 && point <= 24 ? [left(point), point <= 12 ? 0 : HEIGHT - TALL, WIDTH, TALL] : null;
  };
  const spot = (action) => { const end = action.split(" ")[0].split("/")[1]; return end ? spotOf(end) : null; };
  const targets = svg("g");
  root.append(targets);
  const said = el("div", { class: "row" });
  let chosen = [];
  function draw() {
    const open = rests(legal, chosen);
    const done = open.find(([, rest]) => rest.length === 0);
    if (chosen.length && done && open.every(([, rest]) => rest.length === 0)) return play(done[0]);
    const steps = [...new Set(open.flatMap(([, rest]) => rest))].filter((step) => step.includes("/"));
    const starts = [...new Set(steps.map((step) => step.split("/")[0]))];
    targets.replaceChildren(...starts.map((start) => touch(...spotOf(start), `checker on ${start}`, () => aim(start, steps), "pick")));
    said.replaceChildren(
      ...(chosen.length ? [el("span", {}, `so far ${chosen.join(" ")}`), el("button", { type: "button", click: () => { chosen = []; draw(); } }, "Back")] : []),
      ...legal.filter((action) => !action.includes("/")).map((action) => el("button", { type: "button", click: () => play(action) }, action)));
    return undefined;
  }
  function aim(start, steps) {
    const own = steps.filter((step) => step.split("/")[0] === start);
    targets.querySelectorAll(".lit").forEach((other) => other.remove());
    targets.append(...own.map((step) => touch(...spotOf(step.split("/")[1]), step, () => { chosen = [...chosen, step]; draw(); }, "lit")));
  }
  if (legal.length) draw();
  const dice = now.dice?.length ? el("div", { class: "row" }, el("span", {}, `${now.turn_of} moves with`), now.dice.map((number) => el("span", { class: "die", role: "img", "aria-label": `die ${number}` }, number))) : null;
  return { board: el("div", {}, dice, root, said), root, spot, all: legal.every((action) => action.split(" ").every((step) => step === "pass" || spotOf(step.split("/")[1]))) };
}
