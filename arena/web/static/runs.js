import { ask, el, main, tell } from "./dom.js";

async function start() {
  const found = await ask("/api/runs");
  const rows = found.map((one) => el("tr", {}, el("td", {}, el("a", { href: `/runs/${one.key}` }, one.title)), el("td", {}, one.kind === "run" ? "synthesis" : "games")));
  main.replaceChildren(el("h1", {}, "Runs"), found.length ? el("div", { class: "wide" }, el("table", {}, rows)) : el("p", {}, "There are no runs here yet: start one with cwm synthesize or cwm arena, or name its folder when you start the server."));
}
start().catch(tell);
