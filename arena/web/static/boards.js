// Boards that one likes to look at, by id of the game. A board takes what the seat sees, the legal moves and what plays
// one, and gives an element; null, or an error, where what is seen has another form: then a table is shown.
import { backgammon } from "./backgammon.js";
import { el, svg, touch } from "./dom.js";
import { hanabi } from "./hanabi.js";
import { kitchen } from "./kitchen.js";
import { TABLES } from "./tables.js";
import { yokai } from "./yokai.js";

const CELL = 64;

// -------------------------------------------------------------------------------- rows of crosses and rings

function mark(sign, x, y, size) {
  const inset = size * 0.24;
  if (sign === "x") return svg("path", { class: "first", d: `M${x + inset} ${y + inset}l${size - 2 * inset} ${size - 2 * inset}m0 ${2 * inset - size}l${2 * inset - size} ${size - 2 * inset}` });
  if (sign === "o") return svg("circle", { class: "second", cx: x + size / 2, cy: y + size / 2, r: size / 2 - inset });
  return null;
}
function crosses(seen, legal, play, before) {
  let board = seen.observation.board;
  if (!Array.isArray(board)) return null;
  if (!Array.isArray(board[0])) {
    const side = Math.sqrt(board.length);
    if (!Number.isInteger(side)) return null;
    board = Array.from({ length: side }, (_, row) => board.slice(row * side, (row + 1) * side));
  }
  const earlier = before?.observation?.board?.flat();
  const root = svg("svg", { class: "board small", viewBox: `-2 -2 ${board[0].length * CELL + 4} ${board.length * CELL + 4}`, role: "group", "aria-label": "Board" });
  board.forEach((row, y) => row.forEach((sign, x) => {
    root.append(svg("rect", { class: "cell", x: x * CELL, y: y * CELL, width: CELL, height: CELL }));
    const drawn = mark(sign, x * CELL, y * CELL, CELL);
    if (drawn) root.append(drawn);
    if (earlier && earlier[y * row.length + x] !== sign) root.append(svg("rect", { class: "new", x: x * CELL + 3, y: y * CELL + 3, width: CELL - 6, height: CELL - 6, rx: 6 }));
  }));
  const spot = (action) => {
    const found = action.match(/^.\((\d+),(\d+)\)$/);
    return found && [found[2] * CELL, found[1] * CELL, CELL, CELL];
  };
  if (!legal.every(spot)) return null;
  for (const action of legal) root.append(touch(...spot(action), action, () => play(action)));
  return { board: root, root, spot, all: true };
}

// -------------------------------------------------------------------------------- Connect Four

function columns(seen, legal, play, before) {
  const board = seen.observation.board;
  const [height, width] = [board.length, board[0].length];
  const root = svg("svg", { class: "board small", viewBox: `0 0 ${width * CELL} ${height * CELL}`, role: "group", "aria-label": "Board" });
  root.append(svg("rect", { class: "frame", width: width * CELL, height: height * CELL, rx: 14 }));
  board.forEach((row, level) => row.forEach((sign, x) => {
    const [cx, cy] = [x * CELL + CELL / 2, (height - level) * CELL - CELL / 2];
    const name = { x: "disc-first", o: "disc-second" }[sign] || "hole";
    root.append(svg("circle", { class: name, cx, cy, r: CELL * 0.4 }));
    if (sign === "x") root.append(svg("path", { class: "disc-mark", d: `M${cx - 9} ${cy - 9}l18 18m0 -18l-18 18` }));
    if (sign === "o") root.append(svg("circle", { class: "disc-mark", cx, cy, r: 11 }));
    const earlier = before?.observation?.board;
    if (earlier && earlier[level]?.[x] !== sign) root.append(svg("circle", { class: "new", cx, cy, r: CELL * 0.44 }));
  }));
  const column = (action) => action.match(/^.(\d+)$/)?.[1];
  if (!legal.every(column)) return null;
  for (const action of legal) root.append(touch(column(action) * CELL, 0, CELL, height * CELL, `column ${column(action)}`, () => play(action)));
  const spot = (action) => column(action) && [column(action) * CELL, 0, CELL, CELL];
  return { board: root, root, spot, all: true };
}

// -------------------------------------------------------------------------------- chess on five by five

const PIECES = { x: "♚", i: "♟", v: "♞" };
function army(seen, legal, play, before) {
  const board = seen.observation.board;
  const side = board.length;
  const root = svg("svg", { class: "board", viewBox: `-26 -4 ${side * CELL + 32} ${side * CELL + 34}`, role: "group", "aria-label": "Board" });
  const place = (square) => [(Number(square[1]) - 1) * CELL, (square.charCodeAt(0) - 65) * CELL];
  board.forEach((row, y) => [...row].forEach((sign, x) => {
    root.append(svg("rect", { class: (x + y) % 2 ? "dark" : "light", x: x * CELL, y: y * CELL, width: CELL, height: CELL }));
    const earlier = before?.observation?.board?.[y]?.[x];
    if (earlier !== undefined && earlier !== sign) root.append(svg("rect", { class: "new", x: x * CELL + 3, y: y * CELL + 3, width: CELL - 6, height: CELL - 6 }));
    const glyph = PIECES[sign.toLowerCase()];
    // The mark after the glyph asks for a letter's form, not for a picture's.
    if (glyph) root.append(svg("text", { class: `piece ${sign === sign.toUpperCase() ? "zero" : "one"}`, x: x * CELL + CELL / 2, y: y * CELL + CELL / 2 }, glyph + "\uFE0E"));
  }));
  for (let number = 0; number < side; number += 1) {
    root.append(svg("text", { class: "axis", x: -14, y: number * CELL + CELL / 2 }, String.fromCharCode(65 + number)));
    root.append(svg("text", { class: "axis", x: number * CELL + CELL / 2, y: side * CELL + 16 }, number + 1));
  }
  const steps = new Map();
  for (const action of legal) {
    const found = action.match(/^([A-Z]\d)_to_([A-Z]\d)$/);
    if (found) steps.set(found[1], [...(steps.get(found[1]) || []), [found[2], action]]);
  }
  const targets = svg("g");
  for (const [square, own] of steps) {
    const [x, y] = place(square);
    const pick = () => {
      root.querySelectorAll(".pick").forEach((other) => other.classList.toggle("held", other === piece));
      targets.replaceChildren(...own.map(([target, action]) => {
        const [left, top] = place(target);
        return touch(left + 3, top + 3, CELL - 6, CELL - 6, action, () => play(action), "lit");
      }));
    };
    const piece = touch(x + 3, y + 3, CELL - 6, CELL - 6, `piece on ${square}`, pick, "pick");
    root.append(piece);
  }
  root.append(targets);
  const spot = (action) => {
    const found = action.match(/_to_([A-Z]\d)$/);
    return found && [...place(found[1]), CELL, CELL];
  };
  return { board: root, root, spot, all: false };
}

// -------------------------------------------------------------------------------- Quadranto

const STEPS = { Left: [0, -1], Right: [0, 1], Up: [-1, 0], Down: [1, 0], Stay: [0, 0] };
const CORNERS = { "top left": [0, 0], "top right": [0, 2], "bottom left": [2, 0], "bottom right": [2, 2] };
function quadranto(seen, legal, play, before, about) {
  const now = seen.observation;
  const own = now.positions ? Math.max(0, now.current_player) : now.player;
  const places = now.positions || [0, 1].map((seat) => (seat === own ? now.position : null));
  const root = svg("svg", { class: "board small", viewBox: `-3 -3 ${4 * CELL + 6} ${4 * CELL + 6}`, role: "group", "aria-label": "Board" });
  const spot = (action) => {
    const step = Object.hasOwn(STEPS, action) ? STEPS[action] : null;
    return step && places[own] ? [(places[own][1] + step[1]) * CELL, (places[own][0] + step[0]) * CELL, CELL, CELL] : null;
  };
  for (let number = 0; number < 16; number += 1) root.append(svg("rect", { class: "cell", x: (number % 4) * CELL, y: Math.floor(number / 4) * CELL, width: CELL, height: CELL }));
  const corner = Object.hasOwn(CORNERS, now.opponent_quadrant ?? "") ? CORNERS[now.opponent_quadrant] : null;
  if (corner) root.append(svg("rect", { class: "fog", x: corner[1] * CELL + 3, y: corner[0] * CELL + 3, width: 2 * CELL - 6, height: 2 * CELL - 6, rx: 12 }), svg("text", { class: "fog-mark", x: (corner[1] + 1) * CELL, y: (corner[0] + 1) * CELL }, "?"));
  root.append(svg("path", { class: "quarters", d: `M${2 * CELL} 0v${4 * CELL}M0 ${2 * CELL}h${4 * CELL}` }));
  places.forEach((place, seat) => {
    if (!place) return;
    const [cx, cy] = [place[1] * CELL + CELL / 2, place[0] * CELL + CELL / 2];
    root.append(svg("circle", { class: seat ? "pawn one" : "pawn zero", cx, cy, r: 20 }), svg("text", { class: "pawn-name", x: cx, y: cy }, seat));
  });
  for (const action of legal) {
    const at = spot(action);
    if (at) root.append(touch(at[0] + 3, at[1] + 3, CELL - 6, CELL - 6, action, () => play(action), "lit"));
  }
  const who = el("p", { class: "soft" }, `${about.names[own]} is the disc ${own}; ${corner ? `the other is in the quarter ${now.opponent_quadrant}` : "both are shown"}. Moves made: ${now.moves} of 20.`);
  return { board: el("div", {}, root, who), root, spot, all: legal.every(spot) };
}

const BOARDS = { tic_tac_toe: crosses, mnk: crosses, connect_four: columns, army5x5a: army, quadranto, backgammon, ...TABLES };
const FAMILIES = [["hanabi-", hanabi], ["overcooked-v2-", kitchen]];

// What is seen as a board: {board, all: whether every move can be made on it; where planners' thoughts can be drawn: its
// picture as `root`, and `spot` of an action as x, y, width, height}; null where there is none.
export function board(seen, legal, play, before, about) {
  try {
    if (seen.drawing?.cell) return yokai(seen, legal, play, before, about);
    const family = FAMILIES.find(([begins]) => about.game.startsWith(begins));
    const draw = Object.hasOwn(BOARDS, about.game) ? BOARDS[about.game] : family?.[1];
    return draw ? draw(seen, legal, play, before, about) : null;
  } catch {
    return null;
  }
}
