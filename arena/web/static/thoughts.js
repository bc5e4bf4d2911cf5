// What the player to move had considered, where the game kept it: at the moves of the board, and as a table.
import { bar, el, svg } from "./dom.js";

const SHOWN = 8;
const LISTED = 40;
const percent = (share) => `${share >= 0.1 || share === 0 ? Math.round(share * 100) : (share * 100).toFixed(1)} %`;
const number = (value) => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(3));

// The moves of a thought with their shares, the likeliest first; [] where a record holds something else.
function moves(thought) {
  const found = Array.isArray(thought?.moves) ? thought.moves.filter((move) => typeof move?.action === "string") : [];
  const visits = found.reduce((sum, move) => sum + (Number(move.visits) || 0), 0);
  return found.map((move) => ({ ...move, part: typeof move.share === "number" ? move.share : visits ? (Number(move.visits) || 0) / visits : 0 }));
}
const believed = (thought) => (Array.isArray(thought?.belief) ? thought.belief.filter((part) => Array.isArray(part) && typeof part[0] === "string" && Array.isArray(part[1])) : []).map(([name, shares]) => [name, shares.filter(Array.isArray)]);

// Tints the cells of a board by the share of the search that went to moves there, and draws what is believed of cards.
export function tinted(made, frame) {
  if (!frame.thought || !made.root || !made.spot) return;
  const cells = new Map();
  for (const move of moves(frame.thought).filter((move) => typeof move.rating !== "number")) {
    const spot = made.spot(move.action);
    if (!spot) continue;
    const key = spot.join(" ");
    const cell = cells.get(key) || { spot, part: 0, chosen: false };
    cells.set(key, { spot, part: cell.part + move.part, chosen: cell.chosen || move.action === frame.next });
  }
  const most = Math.max(...[...cells.values()].map((cell) => cell.part), 0.01);
  for (const { spot: [x, y, width, height], part, chosen } of cells.values()) {
    made.root.append(svg("rect", { class: chosen ? "thought chosen" : "thought", x: Number(x) + 2, y: Number(y) + 2, width: width - 4, height: height - 4, rx: 6, "fill-opacity": 0.08 + (0.5 * part) / most }, svg("title", {}, percent(part))));
    if (part >= 0.01) made.root.append(svg("text", { class: "thought-share", x: Number(x) + width / 2, y: Number(y) + height - 7 }, percent(part)));
  }
  if (!made.part) return;
  for (const [name, shares] of believed(frame.thought)) {
    const spot = made.part(name);
    if (!spot) continue;
    let x = spot[0] + 5;
    for (const [value, share] of shares) {
      const width = (spot[2] - 10) * Math.max(0, Math.min(1, Number(share) || 0));
      made.root.append(svg("rect", { class: `belief ${/^[a-z]+$/.test(value) ? value : ""}`, x, y: spot[1] + 5, width, height: 9 }, svg("title", {}, `${value} ${percent(share)}`)));
      if (width > 11) made.root.append(svg("text", { class: "belief-name", x: x + width / 2, y: spot[1] + 12.5 }, String(value).slice(0, 1).toUpperCase()));
      x += width;
    }
  }
}
function table(listed, next) {
  const has = (name) => listed.some((move) => typeof move[name] === "number");
  const rated = has("rating");
  const heads = ["move", rated ? "rating" : has("share") ? "policy" : "share of the search", ...(has("visits") ? ["visits"] : []), ...(has("value") ? ["mean return"] : []), ...(has("prior") ? ["prior"] : [])];
  const rows = listed.map((move) => {
    const figure = rated ? (typeof move.rating === "number" ? move.rating.toFixed(2) : "–") : [bar(move.part), ` ${percent(move.part)}`];
    const cells = [el("td", { class: "considered" }, move.action === next ? "▶ " : "", move.action), el("td", {}, figure)];
    if (has("visits")) cells.push(el("td", { class: "number" }, move.visits ?? "–"));
    if (has("value")) cells.push(el("td", { class: "number" }, typeof move.value === "number" ? number(move.value) : "–"));
    if (has("prior")) cells.push(el("td", {}, typeof move.prior === "number" ? [bar(move.prior), ` ${percent(move.prior)}`] : "–"));
    return el("tr", { class: move.action === next ? "played" : "" }, cells);
  });
  return el("div", { class: "wide" }, el("table", {}, el("tr", {}, heads.map((head) => el("th", {}, head))), rows));
}
function beliefs(parts) {
  const rows = parts.map(([name, shares]) => el("tr", {}, el("th", { scope: "row" }, name.replace(/^colours\.(\d+)$/, "card $1").replaceAll(".", " ")), el("td", {}, shares.slice(0, 6).map(([value, share]) => el("span", { class: "guess" }, `${value} `, bar(share), ` ${percent(Number(share) || 0)}`)))));
  return el("details", { open: rows.length <= 12 }, el("summary", {}, `What it believed, ${rows.length === 1 ? "one part" : `${rows.length} parts`} of the state`), el("div", { class: "wide" }, el("table", {}, rows)));
}
// The panel below the boards, [] where nothing was kept.
export function thoughts(frame) {
  const listed = moves(frame.thought);
  const reason = typeof frame.thought?.reason === "string" ? frame.thought.reason : "";
  if (!listed.length && !reason) return [];
  const count = frame.thought.simulations;
  const more = listed.length - SHOWN + (Number(frame.thought.left_out) || 0);
  const rest = listed.slice(SHOWN, LISTED);
  return [
    el("section", { class: "panel thoughts" }, el("h2", {}, `What ${frame.mover ?? "the player"} considers${typeof count === "number" ? `: ${count.toLocaleString("en")} simulations` : ""}`),
      reason ? el("p", { class: "reason" }, reason) : null, listed.length ? table(listed.slice(0, SHOWN), frame.next) : null, rest.length ? el("details", {}, el("summary", {}, `${more} more`), table(rest, frame.next)) : null,
      believed(frame.thought).length ? beliefs(believed(frame.thought)) : null),
  ];
}
