// Boards that one likes to look at, by id of the game. A board takes what the seat sees, the legal moves and what plays
// one, and gives an element; null, or an error, where what is seen has another form: then a table is shown.
import { el, pressed, svg } from "./dom.js";
import { yokai } from "./yokai.js";

const CELL = 64;
const touch = (x, y, width, height, label, act, name = "touch") =>
  svg("rect", { class: name, x, y, width, height, tabindex: 0, role: "button", "aria-label": label, click: act, keydown: pressed(act) });

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
  for (const action of legal) {
    const found = action.match(/^.\((\d+),(\d+)\)$/);
    if (!found) return null;
    root.append(touch(found[2] * CELL, found[1] * CELL, CELL, CELL, action, () => play(action)));
  }
  return { board: root, all: true };
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
  for (const action of legal) {
    const found = action.match(/^.(\d+)$/);
    if (!found) return null;
    root.append(touch(found[1] * CELL, 0, CELL, height * CELL, `column ${found[1]}`, () => play(action)));
  }
  return { board: root, all: true };
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
  return { board: root, all: false };
}

// -------------------------------------------------------------------------------- cards

const RANKS = ["J", "Q", "K"];
const card = (text) => el("div", { class: "card", role: "img", "aria-label": `card ${text}` }, text);
const back = () => el("div", { class: "card back", role: "img", "aria-label": "a card face down" }, "?");
const named = (name, held, chips) => el("div", { class: "hand" }, el("div", {}, el("div", {}, name), el("div", { class: "chips" }, chips)), held);

function kuhn(seen, legal, play, before, about) {
  const now = seen.observation;
  const own = now.player;
  const rank = (number) => (number === null || number === undefined || number < 0 ? el("div", { class: "card none" }, "not dealt") : card(RANKS[number]));
  const hands = about.names.map((name, seat) => named(name, seat === own ? rank(now.private_card) : back(), `${now.contributions[seat]} in the pot`));
  const said = el("div", {}, now.betting.length ? `Said so far: ${now.betting.join(", ")}` : "Nothing has been said yet.");
  return { board: el("div", { class: "felt" }, hands.filter((_, seat) => seat !== own), said, hands[own]), all: false };
}
function leduc(seen, legal, play, before, about) {
  const now = seen.observation;
  const own = now.player;
  const rank = (number) => (number === null || number === undefined || number < 0 ? el("div", { class: "card none" }, "none yet") : card(RANKS[Math.floor(number / 2)]));
  const hands = about.names.map((name, seat) => named(name, seat === own ? rank(now.private_card) : back(), `money ${now.money[seat]}`));
  const said = [now.round_1_betting, now.round_2_betting].map((words, round) => (words.length ? el("div", {}, `Round ${round + 1}: ${words.join(", ")}`) : null));
  const middle = el("div", { class: "hand" }, el("div", {}, "On the table"), rank(now.public_card), el("div", { class: "chips" }, `pot ${now.pot}`));
  return { board: el("div", { class: "felt" }, hands.filter((_, seat) => seat !== own), middle, said, hands[own]), all: false };
}

const BOARDS = { tic_tac_toe: crosses, mnk: crosses, connect_four: columns, army5x5a: army, kuhn_poker: kuhn, leduc_poker: leduc };

// What is seen as a board: {board, all: whether every move can be made on it}; null where there is none.
export function board(seen, legal, play, before, about) {
  try {
    if (seen.drawing?.cell) return yokai(seen, legal, play, about);
    const draw = Object.hasOwn(BOARDS, about.game) ? BOARDS[about.game] : null;
    return draw ? draw(seen, legal, play, before, about) : null;
  } catch {
    return null;
  }
}
