// A run or a tournament, read again every second while it grows.
import { ask, bar, el, key, main, pause, svg, tell } from "./dom.js";
import { shown } from "./values.js";

const EVERY_MS = 1000;
const address = `/api/runs/${key}`;
const box = { title: el("h1", {}, "Run"), place: el("p", { class: "soft" }), status: el("p", { class: "status", role: "status" }), body: el("div"), detail: el("div") };
const many = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
const percent = (share) => `${Math.round(share * 1000) / 10} %`;

function curve(points) {
  if (points.length === 0) return el("p", { class: "soft" }, "No program has been tested yet.");
  const [width, height, left, low] = [600, 220, 44, 190];
  const most = Math.max(1, ...points.map(([calls]) => calls));
  const x = (calls) => left + (calls / most) * (width - left - 16);
  const y = (share) => low - share * (low - 16);
  const root = svg("svg", { class: "curve", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Best share of passed tests over calls" });
  for (const share of [0, 0.25, 0.5, 0.75, 1]) root.append(svg("path", { class: "grid-line", d: `M${left} ${y(share)}H${width - 16}` }), svg("text", { class: "tick", x: 4, y: y(share) + 4 }, `${share * 100} %`));
  root.append(svg("text", { class: "tick", x: left, y: height - 8 }, "calls: 0"), svg("text", { class: "tick", x: width - 16, y: height - 8, "text-anchor": "end" }, most));
  const path = points.map(([calls, best], number) => (number ? `H${x(calls)}V${y(best)}` : `M${x(calls)} ${y(best)}`)).join("");
  root.append(svg("path", { class: "curve-line", d: path }), ...points.map(([calls, best]) => svg("circle", { class: "curve-dot", cx: x(calls), cy: y(best), r: 4 })));
  return root;
}
function tree(candidates) {
  const known = new Set(candidates.map((one) => one.id));
  const below = (parent) => {
    const own = candidates.filter((one) => (known.has(one.parent) ? one.parent : null) === parent);
    return own.length ? el("ul", {}, own.map((one) => el("li", {}, el("button", { type: "button", click: () => look("candidates", one.id) }, `${one.chosen ? "★ " : ""}program ${one.id} `, bar(one.heuristic), ` ${percent(one.heuristic)} `, el("span", { class: ["passed", "rejected", "broken"].includes(one.status) ? one.status : "" }, one.status), ` (call ${one.call})`), below(one.id)))) : null;
  };
  return el("div", { class: "tree" }, below(null) || el("p", { class: "soft" }, "none yet"));
}
function table(heads, rows) {
  return el("div", { class: "wide" }, el("table", {}, el("tr", {}, heads.map((word) => el("th", {}, word))), rows.map((row) => el("tr", {}, row.map((item) => el("td", { class: typeof item === "number" ? "number" : "" }, item))))));
}
const closed = new Set(["Events"]);
function section(title, content) {
  return el("details", { open: !closed.has(title), toggle: (event) => (event.target.open ? closed.delete(title) : closed.add(title)) }, el("summary", {}, title), content);
}
function run(data) {
  const calls = data.calls.map((call) => [el("button", { type: "button", click: () => look("calls", call.number) }, `call ${call.number}`), call.purpose, call.status, call.input, call.output, Math.round(call.seconds * 10) / 10, call.lost, call.model]);
  const best = Math.max(0, ...data.candidates.map((one) => one.heuristic));
  const asked = Object.entries(data.attempts).filter(([, count]) => count > 1).map(([call, count]) => `call ${call} was asked ${count} times`);
  const tokens = data.calls.reduce((sum, call) => sum + call.input + call.output, 0);
  box.status.textContent = `${data.message || "under way"}: ${many(data.calls.length, "call")}, ${tokens.toLocaleString("en")} tokens, ${many(data.candidates.length, "program")}, best ${percent(best)}`;
  return [
    section("Best share of passed tests over calls", curve(data.curve)), section("Programs", tree(data.candidates)),
    section("Calls", el("div", {}, table(["", "purpose", "outcome", "tokens in", "out", "seconds", "lost", "model"], calls), asked.length ? el("p", { class: "soft" }, asked.join("; ")) : null)),
    section("Events", el("ol", { class: "log", reversed: true }, data.events.map(([kind, text]) => el("li", {}, el("b", {}, kind.replaceAll("_", " ")), ` ${text}`)))),
  ];
}
// A figure with its 95 % interval, drawn on the scale of its column.
function whisker([value, low, high], [least, most], written) {
  const x = (at) => 4 + (112 * (Math.max(least, Math.min(most, at)) - least)) / (most - least || 1);
  const known = low !== null && high !== null;
  const drawing = svg("svg", { class: "whisker", viewBox: "0 0 120 16", role: "img", "aria-label": "95 % interval" }, svg("path", { class: "grid-line", d: "M4 8H116" }), known ? svg("path", { class: "whisker-line", d: `M${x(low)} 3v10M${x(low)} 8H${x(high)}M${x(high)} 3v10` }) : null, svg("circle", { class: "curve-dot", cx: x(value), cy: 8, r: 4 }));
  return el("span", { class: "figure" }, drawing, el("b", {}, written(value)), known ? ` [${written(low)}, ${written(high)}]` : " –");
}
function tournament(data) {
  box.status.textContent = `${many(data.games, "game")}${data.faults ? `, ${data.faults} faults of ours` : ""}`;
  const ends = data.rows.flatMap((row) => row.mean.filter((value) => value !== null));
  const scale = [Math.min(...ends), Math.max(...ends)];
  const exact = (value) => String(Math.round(value * 1000) / 1000);
  const rows = data.rows.map((row) => [row.agent, row.seats, whisker(row.mean, scale, exact), whisker(row.best, [0, 1], percent), row.forfeits]);
  return [
    table(["agent", "seats played", "mean return", "best return of its game", "forfeits"], rows),
    el("p", { class: "soft" }, "Behind each figure its 95 % interval over deals, in brackets; “–” where there are too few games for one. All rows of a column have one scale."),
    el("p", {}, el("a", { href: "/watch" }, "Watch the games"))];
}
function failure(test) {
  return el("details", { class: "panel" }, el("summary", {}, `${test.id} (${test.kind}${test.field ? `, ${test.field}` : ""})`), test.message ? el("p", { class: "wrong" }, test.message) : null,
    el("div", { class: "views" }, el("div", {}, el("b", {}, "expected"), shown(test.expected ?? null)), el("div", {}, el("b", {}, "got"), shown(test.got ?? null, test.expected, true))));
}
function program(data) {
  const lines = data.difference.map(([sign, line]) => (sign === "@" ? el("span", { class: "soft" }, "…\n") : el("span", { class: sign === "+" ? "added" : sign === "-" ? "removed" : "" }, `${sign} ${line}${sign === " " ? "\n" : ""}`)));
  return [el("h2", {}, `Program ${data.id}`), data.problems.map((problem) => el("p", { class: "wrong" }, problem)),
    el("p", {}, data.failing_total ? `${data.failing_total} tests failed${data.failing_total > data.failing.length ? `; the first ${data.failing.length}:` : ":"}` : "No test failed."), data.failing.map(failure),
    lines.length ? el("details", { open: true }, el("summary", {}, `What changed since program ${data.parent}`), el("pre", {}, lines)) : null,
    el("details", { open: !lines.length }, el("summary", {}, "The whole program"), el("pre", {}, data.source))];
}
function call(data) {
  return [el("h2", {}, `Call ${data.number}`), data.message ? el("p", { class: "wrong" }, data.message) : null,
    data.messages.map(([role, text]) => el("details", {}, el("summary", {}, `${role}: ${text.length.toLocaleString("en")} characters`), el("pre", {}, text))),
    el("b", {}, "Answer"), el("pre", {}, data.answer ?? `none yet (${data.status})`)];
}
async function look(kind, number) {
  try {
    const data = await ask(`${address}/${kind}/${number}`);
    box.detail.replaceChildren(el("div", { class: "panel" }, (kind === "calls" ? call(data) : program(data)).flat().filter(Boolean)));
  } catch (problem) {
    box.detail.replaceChildren(el("p", { class: "error" }, problem.message));
  }
  box.detail.scrollIntoView({ block: "start", behavior: "smooth" });
}
async function follow() {
  main.replaceChildren(box.title, box.place, box.status, box.body, box.detail);
  let version = "";
  for (;;) {
    if (!document.hidden) {
      const data = await ask(`${address}?version=${encodeURIComponent(version)}`);
      if (data.version !== version) {
        version = data.version;
        box.title.textContent = data.game;
        box.place.textContent = data.title;
        box.body.replaceChildren(...(data.is_run ? run(data) : tournament(data)));
      }
    }
    await pause(EVERY_MS);
  }
}
follow().catch(tell);
