import { ask, el, main, tell } from "./dom.js";

async function games(place, box, first = 0) {
  const found = await ask(`/api/shelf/${place.key}?first=${first}`);
  if (first === 0) box.replaceChildren(el("p", { class: "soft" }, `${found.total} ${found.total === 1 ? "game" : "games"}`));
  const rows = found.games.map((game) => el("tr", {}, el("td", {}, el("a", { href: `/watch/${place.key}/${game.number}` }, `game ${game.number}`)), el("td", {}, game.names.join(", ")), el("td", { class: "number" }, game.steps), el("td", {}, game.end)));
  box.append(el("div", { class: "wide" }, el("table", {}, el("tr", {}, ["", "players", "actions", "end"].map((word) => el("th", {}, word))), rows)));
  const next = first + found.games.length;
  if (next < found.total) {
    const more = el("button", { type: "button", click: () => { more.remove(); games(place, box, next).catch(tell); } }, `${found.total - next} more`);
    box.append(more);
  }
}
function row(place) {
  const box = el("div");
  let asked = false;
  const open = async (event) => {
    if (!event.target.open || asked) return;
    asked = true;
    box.textContent = "…";
    await games(place, box).catch((problem) => box.replaceChildren(el("p", { class: "error" }, problem.message)));
  };
  return el("details", { class: "panel", toggle: open }, el("summary", {}, `${place.title}${place.kind === "games" ? "" : " (trajectories)"}`), box);
}
async function start() {
  const places = await ask("/api/shelf");
  main.replaceChildren(el("h1", {}, "Watch a game"), places.length ? el("div", {}, places.map(row)) : el("p", {}, "There are no stored games here yet: play one, or name a folder of games or a file of trajectories when you start the server."));
}
start().catch(tell);
