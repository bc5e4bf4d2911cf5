import { ask, el, main, send, tell } from "./dom.js";

let games = [];
const game = el("select", { id: "game" });
const find = el("input", { type: "search", placeholder: "find a game" });
const seats = el("div");
const error = el("p", { class: "error", role: "alert" });
const rules = el("pre", { hidden: true });

const chosen = () => games.find((one) => one.key === game.value);

function choice(player, seat, offered) {
  const text = el("input", { type: "text", value: offered[0], "data-seat": seat, spellcheck: "false", "aria-label": `description of the agent at seat ${seat}` });
  const list = el("select", { "aria-label": `agent at seat ${seat}` }, offered.map((name) => el("option", { value: name }, name)), el("option", { value: "" }, "other: write it →"));
  list.addEventListener("change", () => { if (list.value) text.value = list.value; else { text.value = ""; text.focus(); } });
  return el("label", {}, `${player} (seat ${seat}) is`, el("div", { class: "choice" }, list, text));
}
function draw() {
  const one = chosen();
  rules.hidden = true;
  error.textContent = "";
  if (!one) { seats.replaceChildren(); return; }
  const you = el("select", { id: "seat" }, one.players.map((player, seat) => el("option", { value: seat }, `${player} (seat ${seat})`)));
  const others = el("div");
  const fill = () => others.replaceChildren(...one.players.map((player, seat) => (String(seat) === you.value ? null : choice(player, seat, one.agents))).filter(Boolean));
  you.addEventListener("change", fill);
  fill();
  const names = { default: "what is before me now: I remember for myself", memory: "also all that I have seen before (the page remembers for me)" };
  const view = el("select", { id: "view" }, one.views.map((name) => el("option", { value: name }, names[name] && one.views.length > 1 ? names[name] : name)));
  seats.replaceChildren(el("label", {}, "I play", you), others, one.views.length > 1 ? el("label", {}, "I am shown", view) : el("span", { hidden: true }, view));
}
async function begin(event) {
  event.preventDefault();
  error.textContent = "";
  const agents = [...seats.querySelectorAll("[data-seat]")].map((input) => input.value.trim() || "random");
  const deal = document.getElementById("deal").value.trim();
  try {
    const made = await send("/api/tables", { game: game.value, seat: Number(seats.querySelector("#seat").value), agents, view: seats.querySelector("#view").value, seed: deal ? Number(deal) : null });
    location.href = `/play/${made.table}`;
  } catch (problem) {
    error.textContent = problem.message;
  }
}
async function showRules() {
  if (!rules.hidden) { rules.hidden = true; return; }
  try { rules.textContent = (await ask(`/api/games/${game.value}/rules`)).rules; } catch (problem) { rules.textContent = problem.message; }
  rules.hidden = false;
}
function list() {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  const before = game.value;
  const left = games.filter((one) => words.every((word) => one.title.toLowerCase().includes(word)));
  game.replaceChildren(...left.map((one) => el("option", { value: one.key }, one.title)));
  if (left.some((one) => one.key === before)) game.value = before;
  if (game.value !== before) draw();
}
async function start() {
  games = await ask("/api/games");
  game.addEventListener("change", draw);
  find.addEventListener("input", list);
  main.replaceChildren(
    el("h1", {}, "Play a game"),
    el("form", { class: "panel", submit: begin },
      el("div", { class: "choice" }, find, game), seats,
      el("details", {}, el("summary", {}, "A deal that was dealt before"), el("label", {}, "Seed; empty deals anew", el("input", { id: "deal", type: "text", inputmode: "numeric", pattern: "[0-9]*" }))),
      error, el("div", { class: "row" }, el("button", { class: "main", type: "submit" }, "Play"), el("button", { type: "button", click: showRules }, "Rules"))),
    rules);
  list();
  draw();
}
start().catch(tell);
