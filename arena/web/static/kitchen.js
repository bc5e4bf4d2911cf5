// OvercookedV2: the kitchen, or the part of it that a chef sees. A click beside the chef walks there or turns to what
// stands there, a click on what it faces uses that, a click on itself waits; arrows, Enter and the full stop do the same.
import { el, svg, touch } from "./dom.js";

const SIZE = 64;
const STEPS = { up: [0, -1], down: [0, 1], right: [1, 0], left: [-1, 0] };
const KEYS = { ArrowUp: "up", ArrowDown: "down", ArrowRight: "right", ArrowLeft: "left", ".": "stay", e: "interact" };
const PILES = { o: "onion", t: "tomato", c: "carrot", l: "leek" };
const TITLES = { "#": "counter", ".": "floor", P: "pot", S: "plates", D: "hatch", R: "recipe board", B: "recipe button" };

function piece(name, cx, cy, r) {
  return [svg("circle", { class: `piece-of ${name}`, cx, cy, r }), svg("text", { class: "piece-name", x: cx, y: cy }, name[0])];
}
// What lies in a cell or in a chef's hands: a plate under what is on it, ingredients side by side.
function item(words, cx, cy, scale = 1) {
  const group = svg("g", {}, svg("title", {}, words.join(", ")));
  const inner = words.filter((word) => Object.values(PILES).includes(word));
  if (words.includes("plate")) group.append(svg("circle", { class: "plate", cx, cy, r: 22 * scale }));
  inner.forEach((name, at) => group.append(...piece(name, cx + (at - (inner.length - 1) / 2) * 13 * scale, cy, 8 * scale)));
  return group;
}
function furniture(sign, x, y, now, here) {
  const [cx, cy] = [x + SIZE / 2, y + SIZE / 2];
  const drawn = [svg("rect", { class: sign === "." ? "cell" : "dark", x, y, width: SIZE, height: SIZE }, svg("title", {}, PILES[sign] ? `pile: ${PILES[sign]}` : TITLES[sign] || sign))];
  if (sign === "P") drawn.push(svg("circle", { class: "pot", cx, cy, r: 27 }));
  if (sign === "S") for (const lift of [6, 0, -6]) drawn.push(svg("circle", { class: "plate", cx, cy: cy + lift, r: 19 }));
  if (sign === "D") drawn.push(svg("path", { class: "hatch", d: `M${x + 12} ${cy - 10}h22v-10l20 20l-20 20v-10h-22z` }));
  if (PILES[sign]) for (const [dx, dy] of [[-12, 9], [12, 9], [0, -11]]) drawn.push(...piece(PILES[sign], cx + dx, cy + dy, 11));
  const lit = now.lit.some(([column, row]) => column === here[0] && row === here[1]);
  if (sign === "R" || sign === "B") {
    drawn.push(svg("rect", { class: sign === "B" && !lit ? "board-off" : "board-on", x: x + 6, y: y + 14, width: SIZE - 12, height: SIZE - 28, rx: 6 }));
    if (now.recipe && (sign === "R" || lit)) drawn.push(item(now.recipe, cx, cy));
    else drawn.push(svg("text", { class: "kitchen-mark", x: cx, y: cy }, sign === "B" ? "press" : "recipe"));
  }
  return drawn;
}
function chef(one, name) {
  const [cx, cy] = [one.cell[0] * SIZE + SIZE / 2, one.cell[1] * SIZE + SIZE / 2];
  const [right, down] = STEPS[one.facing];
  const turn = { up: 0, right: 90, down: 180, left: 270 }[one.facing];
  return svg("g", {},
    svg("title", {}, `chef ${name} faces ${one.facing}, holds ${one.item.join(", ") || "nothing"}`),
    svg("path", { class: "nose", d: `M${cx - 12} ${cy - 18}l12 -14l12 14z`, transform: `rotate(${turn} ${cx} ${cy})` }),
    svg("circle", { class: `pawn ${name ? "one" : "zero"}`, cx, cy, r: 21 }),
    one.item.length ? item(one.item, cx + right * 12, cy + down * 12, 0.75) : svg("text", { class: "pawn-name", x: cx, y: cy }, name));
}
let typed = null; // the last board's keys: one listener for all
document.addEventListener("keydown", (event) => {
  const action = Object.hasOwn(KEYS, event.key) ? KEYS[event.key] : null;
  if (!typed || !action || event.target.matches?.("input, textarea, select") || !typed.legal.includes(action)) return;
  event.preventDefault();
  typed.play(action);
});

export function kitchen(seen, legal, play, before, about) {
  const now = seen.observation.seen;
  if (!now?.view) return null;
  typed = { legal, play };
  const own = seen.observation.agent;
  const [width, height] = [now.view[0].length, now.view.length];
  const root = svg("svg", { class: "board", viewBox: `-2 -2 ${width * SIZE + 4} ${height * SIZE + 4}`, role: "group", "aria-label": "Kitchen" });
  now.view.forEach((row, y) => [...row].forEach((sign, x) => root.append(...furniture(sign, x * SIZE, y * SIZE, now, [x, y]))));
  for (const cell of now.cells) {
    const [x, y] = [cell.cell[0] * SIZE, cell.cell[1] * SIZE];
    root.append(item(cell.item, x + SIZE / 2, y + SIZE / 2));
    const said = cell.timer ? cell.timer : cell.kind === "pot" && cell.item.includes("cooked") ? "done" : "";
    if (said !== "") root.append(svg("text", { class: "kitchen-time", x: x + SIZE / 2, y: y + SIZE - 9 }, said));
  }
  now.others.forEach((other) => root.append(chef(other, 1 - own)));
  root.append(chef(now.self, own));
  const [column, row] = now.self.cell;
  const at = ([right, down]) => [(column + right) * SIZE, (row + down) * SIZE, SIZE, SIZE];
  const spot = (action) => (action === "stay" ? at([0, 0]) : at(STEPS[action === "interact" ? now.self.facing : action] || [0, 0]));
  for (const [name, step] of Object.entries(STEPS)) {
    const sign = now.view[row + step[1]]?.[column + step[0]];
    const action = name === now.self.facing && sign && sign !== "." ? "interact" : name;
    if (sign && legal.includes(action)) root.append(touch(...at(step), action, () => play(action)));
  }
  if (legal.includes("stay")) root.append(touch(...at([0, 0]), "stay", () => play("stay")));
  const recipe = now.recipe ? now.recipe.join(", ") : "not in sight";
  const signal = now.delivered ? " The right dish was just delivered." : "";
  const limit = about.turns ? ` of ${about.turns / about.names.length}` : "";
  const said = el("p", { class: "soft" }, `Step ${seen.observation.step}${limit}. Recipe: ${recipe}.${signal} Keys: arrows walk and turn, E uses what is in front, the full stop waits.`);
  return { board: el("div", {}, root, said), root, spot, all: true };
}
