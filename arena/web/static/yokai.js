// Yōkai to be played by mouse, finger and keys: click a card to observe it; click or drag one to a lit cell to move it.
import { drawn, el, pressed, still, svg } from "./dom.js";

const WORDS = ["observe", "observe", "move", "hint"];
const colours = (names) => (names || ["hidden"]).map((name) => el("span", { class: `colour ${/^[a-z]+$/.test(name) ? name : ""}`, title: name }, name === "hidden" ? "?" : name[0]));

function sorted(legal) {
  const found = { observe: new Map(), move: new Map(), reveal: new Map(), place: new Map(), rest: [] };
  for (const action of legal) {
    const words = action.match(/^(observe|reveal) (\d+)$/);
    const aims = action.match(/^(move|place) (\d+) (?:to|at) (\d+),(\d+)$/);
    if (words) found[words[1]].set(Number(words[2]), action);
    else if (aims) {
      const own = found[aims[1]].get(Number(aims[2])) || [];
      found[aims[1]].set(Number(aims[2]), [...own, [Number(aims[3]), Number(aims[4]), action]]);
    } else found.rest.push(action);
  }
  return found;
}

const GLIDE_MS = 700;
// Lets what the last move changed come in from where it was: a card from its old cell, a hint from the edge of the board.
function glide(root, now, then, cell) {
  if (still || !then?.positions || now.positions.length !== then.positions.length) return;
  const cards = root.querySelectorAll(".cards > .card");
  const place = ([row, column]) => `translate(${column * cell + 4}px, ${row * cell + 4}px)`;
  now.positions.forEach((position, card) => {
    const old = then.positions[card];
    if (old[0] === position[0] && old[1] === position[1]) return;
    cards[card]?.animate?.([{ transform: place(old) }, { transform: place(position) }], { duration: GLIDE_MS, easing: "ease-in-out" });
  });
  now.hints.forEach((hint, number) => {
    if (hint.status !== "placed" || then.hints[number]?.status === "placed") return;
    cards[hint.card]?.querySelector("[href^='#yokai-hint']")?.animate?.([{ opacity: 0 }, { opacity: 1 }], { duration: GLIDE_MS });
  });
  now.colours.forEach((colour, card) => {
    const turned = (colour === null) !== (then.colours?.[card] === null);
    if (turned) cards[card]?.animate?.([{ opacity: 0.25 }, { opacity: 1 }], { duration: GLIDE_MS });
  });
  for (const line of root.querySelectorAll(".path, .origin, .acted")) line.animate?.([{ opacity: 0 }, { opacity: 1 }], { duration: GLIDE_MS });
}

export function yokai(seen, legal, play, before, about) {
  const { body, box, cell, origin } = seen.drawing;
  const now = seen.observation;
  const can = sorted(legal);
  const root = drawn(body, box, "board yokai");
  root.setAttribute("aria-label", "Board");
  const targets = svg("g");
  const ghost = svg("rect", { class: "ghost", width: cell - 12, height: cell - 12, rx: 8, visibility: "hidden" });
  const corner = (row, column) => [origin[0] + column * cell, origin[1] + row * cell];
  const label = (card) => `card ${card}${now.colours[card] ? `, ${now.colours[card]}` : ""}`;
  let held = null;

  function hold(piece, aims) {
    held?.classList.remove("held", "chosen");
    held = piece;
    piece.classList.add(piece instanceof SVGElement ? "held" : "chosen");
    targets.replaceChildren(...aims.map(([row, column, action]) => {
      const [x, y] = corner(row, column);
      const act = () => play(action);
      const rect = svg("rect", { class: "lit", x: x + 3, y: y + 3, width: cell - 6, height: cell - 6, rx: 6, tabindex: 0, role: "button", "aria-label": action, click: act, keydown: pressed(act) });
      rect.act = act;
      return rect;
    }));
  }
  function at(event) {
    const under = document.elementFromPoint(event.clientX, event.clientY);
    return under?.act ? under : null;
  }
  // A click leaves the piece chosen, a drag ends on a lit cell.
  function draggable(piece, aims) {
    piece.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      event.preventDefault();
      hold(piece, aims);
      const move = (moved) => {
        const point = new DOMPoint(moved.clientX, moved.clientY).matrixTransform(root.getScreenCTM().inverse());
        ghost.setAttribute("x", point.x - cell / 2 + 6);
        ghost.setAttribute("y", point.y - cell / 2 + 6);
        ghost.setAttribute("visibility", "visible");
        const over = at(moved);
        targets.querySelectorAll(".lit").forEach((rect) => rect.classList.toggle("over", rect === over));
      };
      const up = (lifted) => {
        document.removeEventListener("pointermove", move);
        document.removeEventListener("pointerup", up);
        document.removeEventListener("pointercancel", up);
        ghost.setAttribute("visibility", "hidden");
        if (lifted.type === "pointerup") at(lifted)?.act();
      };
      document.addEventListener("pointermove", move);
      document.addEventListener("pointerup", up);
      document.addEventListener("pointercancel", up);
    });
    piece.addEventListener("keydown", pressed(() => { hold(piece, aims); targets.querySelector(".lit")?.focus(); }));
  }

  now.positions.forEach(([row, column], card) => {
    const [x, y] = corner(row, column);
    const shape = { x: x + 2, y: y + 2, width: cell - 4, height: cell - 4, rx: 9, tabindex: 0, role: "button" };
    if (can.observe.has(card)) {
      const act = () => play(can.observe.get(card));
      root.append(svg("rect", { ...shape, class: "touch", "aria-label": `observe ${label(card)}`, click: act, keydown: pressed(act) }));
    } else if (can.move.has(card)) {
      const piece = svg("rect", { ...shape, class: "pick draggable", "aria-label": `move ${label(card)}` });
      draggable(piece, can.move.get(card));
      root.append(piece);
    }
  });
  root.append(targets, ghost);
  glide(root, now, before?.observation, cell);
  const spot = (action) => {
    const [kind, card] = action.split(" ");
    const aim = action.match(/(\d+),(\d+)$/);
    const at = aim ? [Number(aim[1]), Number(aim[2])] : kind === "observe" ? now.positions[Number(card)] : null;
    return at && [...corner(...at), cell, cell];
  };
  const part = (name) => { const found = name.match(/^colours\.(\d+)$/); return found && now.positions[Number(found[1])] ? [...corner(...now.positions[Number(found[1])]), cell, cell] : null; };

  const hints = now.hints.map((hint, number) => {
    const what = [`hint ${number}`, ...colours(hint.colours), hint.status === "placed" ? `on ${hint.card}` : hint.status];
    const line = what.map((part) => (part instanceof Node ? part : el("span", {}, part)));
    if (can.reveal.has(number)) return el("button", { type: "button", class: "hint touchable", title: "reveal it", click: () => play(can.reveal.get(number)) }, line);
    const button = el("button", { type: "button", class: `hint ${can.place.has(number) ? "touchable" : ""}`, disabled: !can.place.has(number), title: "place it on a card" }, line);
    if (can.place.has(number)) draggable(button, can.place.get(number));
    return button;
  });
  const rest = can.rest.map((action) => el("button", { type: "button", click: () => play(action) }, { end: "End the game: the colours lie together", "no-op": "No legal move: go on" }[action] || action));
  const steps = WORDS.map((word, number) => el("span", { class: now.sub_step === number + 1 ? "now" : "" }, word));
  const known = about.turns ? ` of ${about.turns / 4}` : "";
  return {
    board: el("div", {}, el("div", { class: "row" }, el("span", { class: "soft" }, `turn ${now.turn + 1}${known}`), el("div", { class: "steps" }, steps)), root, el("div", { class: "hints" }, hints), el("div", { class: "row" }, rest)),
    root, spot, part, all: true,
  };
}
