import { ask, drawn, el, key, main, pause, send, still, tell } from "./dom.js";
import { board } from "./boards.js";
import { moves } from "./moves.js";
import { shown } from "./values.js";

const SLOW = { drawn: 900, plain: 350 };
const KEPT = 500; // lines of the log
const address = `/api/tables/${key}`;
const place = { title: el("h1", {}, "Play"), note: el("p", { class: "soft" }), status: el("p", { class: "status", role: "status", "aria-live": "polite" }), board: el("div"), moves: el("div", { class: "panel" }), log: el("ol", { class: "log", "aria-label": "What happened" }), error: el("p", { class: "error", role: "alert" }), end: el("div"), seen: el("div", { class: "wide" }), drawing: el("div") };
const table = el("details", {}, el("summary", {}, "All that I see, as a table"), place.seen, place.drawing);
let data = null;
let last = null;
let before = null;
let after = 0;
let named = false;
let shownOnce = false; // a page that is opened in the middle of a game does not begin with its past

function layout() {
  place.leave = el("button", { type: "button", click: leave }, "Leave the game");
  main.replaceChildren(
    place.title, place.note, place.status, place.error, place.end,
    el("div", { class: "columns" },
      el("div", {}, place.board, table),
      el("div", {}, place.moves, el("h2", {}, "What happened"), el("div", { class: "panel" }, place.log), place.leave)));
}
async function leave() {
  await send(`${address}/leave`, {}).catch(() => {});
  location.href = "/";
}
let sent = 0; // the turn whose move is on its way
async function play(action) {
  if (sent === data.turn) return;
  const turn = (sent = data.turn);
  place.error.textContent = "";
  draw([]);
  try {
    await send(`${address}/move`, { turn, action });
  } catch (problem) {
    place.error.textContent = problem.message;
    sent = 0;
    draw(data.legal);
  }
}
// `from`: the position before, where the last move is to be seen as it happens.
function draw(legal, from = null) {
  if (!last) return;
  const made = board(last, legal, play, last.drawing ? from : before, data.about);
  const text = last.rendering ? el("pre", { class: "drawing" }, last.rendering) : null;
  const values = shown(last.observation, before?.observation, before !== null);
  const caption = last.drawing?.caption ? [el("p", { class: "caption" }, last.drawing.caption)] : [];
  place.board.replaceChildren(...caption, made ? made.board : text || el("div", { class: "wide" }, values));
  table.hidden = !made && !text;
  place.seen.replaceChildren(made || text ? values : "");
  place.drawing.replaceChildren(made && text ? text : "");
  const offered = made?.all ? el("details", {}, el("summary", {}, `My ${legal.length} legal moves as text`), moves(legal, play)) : el("div", {}, el("b", {}, `My legal moves (${legal.length})`), moves(legal, play));
  place.moves.replaceChildren(legal.length ? offered : el("span", { class: "soft" }, "No move is mine now."));
}
function log(told) {
  if (!told) return;
  const words = told.text.startsWith(told.who) ? told.text : `${told.who}: ${told.text}`;
  place.log.prepend(el("li", { class: told.seat === data.about.seat ? "own" : "" }, words));
  while (place.log.children.length > KEPT) place.log.lastChild.remove();
}
async function step(next) {
  before = last;
  last = next;
  log(next.told);
  const others = next.told && next.told.seat !== data.about.seat;
  if (others) place.status.textContent = next.told.text.startsWith(next.told.who) ? next.told.text : `${next.told.who}: ${next.told.text}`;
  draw([], before);
  if (others && !still && shownOnce) await pause(next.drawing ? SLOW.drawn : SLOW.plain);
}
function says() {
  const mine = data.legal.length > 0;
  place.status.className = `status ${mine ? "turn" : "waits"}`;
  if (data.phase === "starting") place.status.textContent = "The table is being set …";
  else if (data.phase === "left") place.status.textContent = "You left the game; it is not scored.";
  else if (mine) place.status.textContent = "Your move";
  else if (data.mover !== null && data.about.names?.[data.mover]) place.status.textContent = `${data.about.names[data.mover]} is thinking …`;
}
function ended() {
  const end = data.end;
  const rows = end.rows.map((row) => el("tr", {}, el("td", {}, row.name), el("td", {}, row.result), el("td", { class: "number" }, row.return)));
  const truth = end.drawing ? drawn(end.drawing.body, end.drawing.box, "board yokai") : end.rendering ? el("pre", { class: "drawing" }, end.rendering) : null;
  place.status.textContent = `The game is over: ${end.rows[data.about.seat].result}.`;
  place.leave.hidden = true;
  place.end.replaceChildren(el("div", { class: "panel ended" },
    el("div", { class: "wide" }, el("table", {}, el("tr", {}, ["player", "result", "return"].map((word) => el("th", {}, word))), rows)),
    end.breakdown ? el("p", {}, end.breakdown) : null, end.forfeit ? el("p", { class: "error" }, end.forfeit) : null,
    el("p", {}, `Deal ${end.seed}. `, el("span", { class: "soft" }, `Kept in ${end.folder}.`)),
    el("p", { class: "row" }, el("button", { class: "main", type: "button", click: again }, "Play again"), el("a", { href: "/" }, "Another game")),
    truth ? el("details", { open: true }, el("summary", {}, "The end, with what was hidden"), truth) : null,
    el("details", {}, el("summary", {}, `The whole game, chance told: ${end.actions.length} actions`), el("ol", { class: "log" }, end.actions.map(([who, action]) => el("li", {}, `${who}: ${action}`))))));
  place.moves.replaceChildren(el("span", { class: "soft" }, "The game is over."));
  place.end.scrollIntoView({ block: "nearest" });
}
async function again() {
  try { location.href = `/play/${(await send(`${address}/again`, {})).table}`; } catch (problem) { place.error.textContent = problem.message; }
}
async function follow() {
  layout();
  let version = "";
  for (;;) {
    data = await ask(`${address}?after=${after}&version=${encodeURIComponent(version)}`);
    version = data.version;
    if (!named && data.about.game) {
      named = true;
      place.title.textContent = data.about.named;
      place.note.textContent = `${data.about.names.join(", ")}. ${data.about.note}`;
    }
    for (const next of data.steps) await step(next);
    after = data.count;
    shownOnce = true;
    says();
    if (data.phase === "failed") throw new Error(data.error);
    if (data.phase === "over") return ended();
    if (data.phase === "left") return draw([]);
    draw(sent === data.turn ? [] : data.legal);
  }
}
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.target.matches("input")) {
    const find = document.querySelector("input[type=search]");
    if (find) { event.preventDefault(); find.closest("details")?.setAttribute("open", ""); find.focus(); }
  }
});
follow().catch(tell);
