import { ask, drawn, el, key, main, tell } from "./dom.js";
import { board } from "./boards.js";
import { thoughts, tinted } from "./thoughts.js";
import { shown } from "./values.js";

const WINDOW = 64;
const KEPT = 40; // windows
const STEP_MS = 900;
const address = `/api/shelf/${key}`;
const windows = new Map(); // first frame of a window -> promise of its frames
let about = null;
let at = 0;
let views = [];
let timer = null;
let wanted = 0;

const slider = el("input", { type: "range", min: 0, value: 0, "aria-label": "Frame" });
const where = el("output");
const said = el("p", { class: "status", role: "status" });
const considered = el("div");
const panels = el("div", { class: "views" });
const error = el("p", { class: "error", role: "alert" });
const player = el("button", { type: "button", click: () => toggle() }, "Play");

function part(first) {
  if (first < 0 || first >= about.length) return Promise.resolve([]);
  if (!windows.has(first)) {
    const loading = ask(`${address}/frames?first=${first}&views=${encodeURIComponent(views.join(","))}`);
    loading.catch(() => windows.delete(first));
    windows.set(first, loading);
    if (windows.size > KEPT) windows.delete(windows.keys().next().value);
  }
  return windows.get(first);
}
async function frame(number) {
  if (number < 0) return null;
  const first = number - (number % WINDOW);
  return (await part(first))[number - first] || null;
}
// A step forward is seen as it happens; a jump, and a step back, are not.
function panel(name, now, before, moved) {
  const seen = now.views[name];
  if (!seen) return null;
  const earlier = before?.views[name];
  const [seat, view] = name === "truth" ? ["", ""] : name.split(".");
  const title = name === "truth" ? "The truth" : `What ${about.names[seat]} sees${about.views.filter((other) => other.startsWith(`${seat}.`)).length > 1 ? ` (${view})` : ""}`;
  const made = name !== "truth" || !seen.drawing ? board(seen, [], () => {}, seen.drawing && !moved ? null : earlier, about) : null;
  if (made && (name === "truth" || Number(seat) === now.seat)) tinted(made, now);
  const picture = seen.drawing && !seen.drawing.cell ? drawn(seen.drawing.body, seen.drawing.box, "board yokai") : made?.board;
  const values = shown(seen.observation, earlier?.observation, Boolean(earlier));
  const text = seen.rendering ? el("pre", { class: "drawing" }, seen.rendering) : null;
  const open = opened.has(name) || (!picture && !text);
  const table = el("details", { open, toggle: (event) => (event.target.open ? opened.add(name) : opened.delete(name)) }, el("summary", {}, "as a table"), el("div", { class: "wide" }, values));
  return el("section", { class: "panel" }, el("h2", {}, title), picture || text || null, table);
}
const opened = new Set();
async function show(number) {
  const last = at;
  at = Math.max(0, Math.min(about.length - 1, number));
  const moved = at === last + 1;
  const mine = (wanted += 1);
  slider.value = at;
  where.textContent = `${at} of ${about.length - 1}`;
  try {
    const [now, before] = await Promise.all([frame(at), frame(at - 1)]);
    if (mine !== wanted || !now) return; // a later one is wanted by now
    said.textContent = now.who === null ? "The beginning" : `${now.who}: ${now.action}`;
    if (now.mover === null) said.textContent += ` — the end: ${about.end.join("; ")}`;
    panels.replaceChildren(...views.map((name) => panel(name, now, before, moved)).filter(Boolean));
    considered.replaceChildren(...thoughts(now));
    error.textContent = "";
    const first = at - (at % WINDOW);
    part(first + WINDOW).catch(() => {});
  } catch (problem) {
    error.textContent = problem.message;
    stop();
  }
}
function stop() {
  clearTimeout(timer);
  timer = null;
  player.textContent = "Play";
}
function go(number) { stop(); show(number); }
function toggle() {
  if (timer !== null) return stop();
  player.textContent = "Pause";
  const next = async () => {
    await show(at + 1);
    if (at >= about.length - 1) return stop();
    if (timer !== null) timer = setTimeout(next, STEP_MS);
  };
  if (at >= about.length - 1) show(0);
  timer = setTimeout(next, STEP_MS);
}
function choose(boxes) {
  views = boxes.filter((box) => box.checked).map((box) => box.value);
  windows.clear();
  show(at);
}
async function start() {
  about = await ask(address);
  views = [about.views.includes("truth") ? "truth" : about.views[0], ...about.views.slice(1, 2)];
  slider.max = about.length - 1;
  slider.addEventListener("input", () => go(Number(slider.value)));
  const boxes = about.views.map((name) => el("input", { type: "checkbox", value: name, checked: views.includes(name), change: () => choose(boxes) }));
  const labels = about.views.map((name, number) => {
    const [seat, view] = name.split(".");
    return el("label", {}, boxes[number], " ", name === "truth" ? "the truth" : `${about.names[seat]}${view === "default" || view === "recorded" ? "" : `: ${view}`}`);
  });
  const button = (text, name, act) => el("button", { type: "button", "aria-label": name, click: act }, text);
  main.replaceChildren(
    el("h1", {}, about.game), el("p", { class: "soft" }, `${about.names.join(", ")}. ${about.place}`),
    el("div", { class: "slider" }, button("|◀", "First frame", () => go(0)), button("◀", "Back", () => go(at - 1)), player, button("▶", "On", () => go(at + 1)), button("▶|", "Last frame", () => go(about.length - 1)), slider, where),
    el("div", { class: "row" }, labels), said, error, panels, considered, el("p", { class: "soft" }, "Keys: ← → step, Page Up and Page Down fifty, Home, End, Space plays."));
  await show(Number(location.hash.slice(1)) || 0);
}
const keys = { ArrowLeft: () => go(at - 1), ArrowRight: () => go(at + 1), PageUp: () => go(at - 50), PageDown: () => go(at + 50), Home: () => go(0), End: () => go(about.length - 1), " ": toggle };
document.addEventListener("keydown", (event) => {
  const act = keys[event.key];
  if (!act || !about || event.ctrlKey || event.metaKey || event.altKey || (event.target.matches("button, summary, input[type=checkbox]") && event.key === " ")) return;
  event.preventDefault();
  act();
});
start().catch(tell);
