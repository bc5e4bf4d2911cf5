// Hanabi at a table: the others' cards lie open, the own ones show what was told of them; hints and moves are buttons.
import { el } from "./dom.js";

const NAMES = { R: "red", Y: "yellow", G: "green", W: "white", B: "blue" };
const MOST_LIKELY = 3;
const spoken = (value) => NAMES[value] || value;
const kind = (letter) => (Object.hasOwn(NAMES, letter ?? "") ? NAMES[letter] : "unknown");

// What each legal action is about: an own slot, or another player by how many seats on it sits.
function sorted(legal) {
  const found = { own: new Map(), hints: new Map(), rest: [] };
  for (const action of legal) {
    const own = action.match(/^\((Play|Discard) (\d+)\)$/);
    const hint = action.match(/^\(Reveal player \+(\d) (?:color|rank) (\w)\)$/);
    const [group, key, what] = own ? [found.own, Number(own[2]), own[1].toLowerCase()] : hint ? [found.hints, Number(hint[1]), hint[2]] : [];
    if (group) group.set(key, [...(group.get(key) || []), [what, action]]);
    else found.rest.push(action);
  }
  return found;
}
// The slots that hints named since the own last move, moved up where a card before them has left the hand.
function named(recent, seats) {
  const marks = Array.from({ length: seats }, () => new Set());
  for (const event of recent) {
    if (event.result === "hinted") event.slots.forEach((slot) => marks[event.to].add(slot));
    else marks[event.player] = new Set([...marks[event.player]].filter((slot) => slot !== event.slots[0]).map((slot) => (slot > event.slots[0] ? slot - 1 : slot)));
  }
  return marks;
}
function share(chance) {
  const [part, whole] = String(chance).split("/").map(Number);
  return part / (whole || 1);
}
function about(slot) {
  const told = `${slot.told_colour ?? ""}${slot.told_rank ?? ""}`;
  const possible = slot.colours ? `${slot.colours.join("")} ${slot.ranks.join("")}` : "";
  const likely = Object.entries(slot.chances || {}).map(([card, chance]) => [card, share(chance)]).sort((one, other) => other[1] - one[1]).slice(0, MOST_LIKELY);
  return [
    slot.told_colour === undefined ? null : el("small", {}, told ? `told ${told}` : "not told"),
    possible ? el("small", {}, possible) : null,
    likely.map(([card, chance]) => el("small", {}, `${card} ${Math.round(100 * chance)} %`)),
  ];
}
function card(text, fresh) {
  const shown = typeof text === "string" && text.length === 2;
  const label = shown ? `${spoken(text[0])} ${text[1]}` : "own card, face down";
  return el("div", { class: `card small firework ${shown ? kind(text[0]) : "back"} ${fresh ? "named" : ""}`, role: "img", "aria-label": label }, shown ? [el("b", {}, text[1]), el("span", {}, text[0])] : null);
}
function hand(name, slots, marks, buttons, hints) {
  const cards = slots.map((slot, number) => el("div", { class: "slot" }, card(slot.card, marks.has(number)), about(slot), buttons(number)));
  return el("div", { class: "seat" }, el("div", {}, name), el("div", { class: "cards" }, cards), hints);
}
const button = (words, action, play) => el("button", { type: "button", class: "short", "aria-label": action, click: () => play(action) }, words);

export function hanabi(seen, legal, play, before, told) {
  const now = seen.observation;
  const seats = now.hands.length;
  const own = now.player ?? -1;
  const can = sorted(legal);
  const marks = named(now.recent, seats);
  const order = Array.from({ length: seats }, (_, offset) => (own + 1 + offset) % seats);
  const hands = order.map((seat) => {
    const mine = seat === own;
    const offset = (seat - own + seats) % seats;
    const moves = (slot) => (mine ? (can.own.get(slot) || []).map(([what, action]) => button(what, action, play)) : null);
    const hints = mine ? [] : (can.hints.get(offset) || []).map(([value, action]) => button(`hint ${spoken(value)}`, action, play));
    const name = `${told.names[seat]}${now.current_player === seat ? " – to move" : ""}`;
    return hand(name, now.hands[seat], marks[seat], moves, hints.length ? el("div", { class: "row" }, hints) : null);
  });
  const piles = Object.entries(now.fireworks).map(([colour, top]) => (top ? card(`${colour}${top}`) : el("div", { class: "card small none" }, colour)));
  const left = now.final_turns === null ? "" : `, turns left ${now.final_turns}`;
  const points = Object.values(now.fireworks).reduce((sum, top) => sum + top, 0);
  const thrown = [...now.discards].sort().map((one) => el("span", { class: `thrown ${kind(one[0])}` }, one));
  return {
    board: el("div", { class: "felt hanabi" },
      el("div", { class: "chips" }, `information ${now.info_tokens}, lives ${now.life_tokens}, deck ${now.deck_size}${left}, points ${points}`),
      el("div", { class: "cards", role: "group", "aria-label": "Fireworks" }, piles),
      hands,
      el("div", { class: "cards", role: "group", "aria-label": "Discards" }, el("span", {}, thrown.length ? "discards" : "no discards"), thrown)),
    all: can.rest.length === 0,
  };
}
