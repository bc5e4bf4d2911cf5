"use strict";
(() => {
  const byId = (name) => document.getElementById("watch-" + name);
  const data = JSON.parse(byId("data").textContent);
  const drawn = data.kind === "drawing";
  const chooser = byId("game"), body = byId("body"), list = byId("steps");
  const layout = drawn ? boards(byId("picture").parentElement) : null;
  let steps = [], score = [], thoughts = [], at = 0, timer = null, asked = 0;

  const groups = new Map();
  chooser.replaceChildren();
  data.games.forEach(([group, title], number) => {
    if (!groups.has(group)) {
      const made = document.createElement("optgroup");
      made.label = group;
      chooser.append(made);
      groups.set(group, made);
    }
    groups.get(group).append(new Option(title, String(number)));
  });

  async function unpack(packed) {
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  }
  async function load(number) {
    pause();
    const mine = ++asked;
    const found = await unpack(data.games[number][2]);
    if (mine !== asked) return;
    steps = found.steps;
    score = found.score;
    thoughts = found.thoughts || [];
    at = 0;
    if (drawn) {
      layout.crop(steps.map(([, text]) => text));
      byId("score").lastElementChild.replaceChildren(...score.map((cells) => {
        const row = document.createElement("tr");
        row.append(...cells.map((cell) => Object.assign(document.createElement("td"), { textContent: cell })));
        return row;
      }));
    }
    byId("at").max = steps.length - 1;
    list.replaceChildren(...steps.map(([caption], index) => {
      const item = document.createElement("li"), button = document.createElement("button");
      button.type = "button";
      button.textContent = index + ". " + caption.split("\n")[0];
      button.onclick = () => go(index);
      item.append(button);
      return item;
    }));
    show(0);
  }
  // Words of a line that the step before does not have in the same place are marked; lines are compared by what stands before their colon.
  function compared(text, before) {
    const old = before.split("\n"), named = new Map();
    old.forEach((line) => { const name = line.split(": ")[0]; if (name !== line) named.set(name, line); });
    const parts = [];
    text.split("\n").forEach((line, row) => {
      if (row) parts.push("\n");
      const name = line.split(": ")[0], other = (name !== line && named.get(name)) || old[row] || "";
      if (line === other) return parts.push(line);
      const cut = (words) => words.match(/[\p{L}\p{N}_]+|[^\p{L}\p{N}_]/gu) || [];
      const now = cut(line), then = cut(other);
      let head = 0, tail = 0;
      while (head < now.length && head < then.length && now[head] === then[head]) head++;
      while (tail < now.length - head && tail < then.length - head && now[now.length - 1 - tail] === then[then.length - 1 - tail]) tail++;
      const mark = document.createElement("mark");
      mark.textContent = now.slice(head, now.length - tail).join("");
      parts.push(now.slice(0, head).join(""), mark, now.slice(now.length - tail).join(""));
    });
    return parts;
  }
  // What the player to move had considered: texts alone, as all that others wrote.
  function made(name, ...parts) {
    const found = document.createElement(name);
    found.append(...parts);
    return found;
  }
  const percent = (share) => (share >= 0.1 || share === 0 ? Math.round(share * 100) : (share * 100).toFixed(1)) + " %";
  function bar(share) {
    const found = Object.assign(document.createElement("i"), { className: "part" });
    found.append(document.createElement("b"));
    found.firstChild.style.width = 100 * share + "%";
    return found;
  }
  function consider(thought) {
    const place = byId("thought");
    place.hidden = !thoughts.length;
    if (!thoughts.length) return;
    if (!thought) return place.replaceChildren(made("strong", "Nothing is kept of what was considered here."));
    const { simulations, moves, more, belief, reason } = thought;
    const has = (column) => moves.some((move) => move[column] !== null && move[column] !== undefined);
    const rated = has(5);
    const heads = ["move", rated ? "rating" : simulations === null ? "policy" : "share", ...(has(2) ? ["visits"] : []), ...(has(3) ? ["mean return"] : [])];
    const rows = moves.map(([action, share, visits, value, played, rating]) => {
      const figure = rated ? made("td", rating === null ? "–" : rating.toFixed(2)) : made("td", bar(share), " " + percent(share));
      const row = made("tr", made("td", (played ? "▶ " : "") + action), figure);
      if (has(2)) row.append(made("td", visits === null ? "–" : visits.toLocaleString("en")));
      if (has(3)) row.append(made("td", value === null ? "–" : value.toFixed(3)));
      if (played) row.className = "played";
      return row;
    });
    const said = "What the player to move considers" + (simulations === null ? "" : ": " + simulations.toLocaleString("en") + " simulations");
    place.replaceChildren(made("strong", said));
    if (reason) place.append(made("p", reason));
    if (rows.length) place.append(made("table", made("tr", ...heads.map((head) => made("th", head))), ...rows));
    if (more) place.append(made("p", more + " more moves"));
    if (!belief.length) return;
    const parts = belief.map(([part, shares]) => made("tr", made("th", part.replace(/^colours\.(\d+)$/, "card $1").replaceAll(".", " ")),
      made("td", ...shares.map(([value, share]) => made("span", value + " ", bar(share), " " + percent(share))))));
    place.append(made("details", made("summary", "What it believes of what is hidden"), made("table", ...parts)));
  }
  function show(number) {
    const buttons = list.querySelectorAll("button");
    if (buttons[at]) buttons[at].removeAttribute("aria-current");
    at = Math.max(0, Math.min(steps.length - 1, number));
    const [caption, text] = steps[at];
    if (drawn) {
      body.innerHTML = text;
      layout.draw(body, byId("seat").value);
      byId("score").hidden = !score.length || at !== steps.length - 1;
    } else body.replaceChildren(...(at ? compared(text, steps[at - 1][1]) : [text]));
    const told = byId("thought").querySelector("details");
    consider(thoughts[at]);
    if (told && told.open && byId("thought").querySelector("details")) byId("thought").querySelector("details").open = true;
    buttons[at].setAttribute("aria-current", "step");
    const item = buttons[at].parentElement, top = item.offsetTop - list.offsetTop;
    if (top < list.scrollTop) list.scrollTop = top;
    if (top + item.offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = top + item.offsetHeight - list.clientHeight;
    byId("at").value = at;
    byId("number").textContent = at + " of " + (steps.length - 1);
    byId("said").textContent = caption;
  }
  function pause() {
    clearTimeout(timer);
    timer = null;
    byId("play").textContent = "Play";
  }
  function wait() {
    timer = setTimeout(() => { show(at + 1); if (at === steps.length - 1) pause(); else wait(); }, 1200 / byId("speed").value);
  }
  function go(number) { pause(); if (steps.length) show(number); }
  function toggle() {
    if (timer !== null) return pause();
    if (at === steps.length - 1) show(0);
    byId("play").textContent = "Pause";
    wait();
  }
  byId("play").onclick = toggle;
  byId("first").onclick = () => go(0);
  byId("back").onclick = () => go(at - 1);
  byId("next").onclick = () => go(at + 1);
  byId("last").onclick = () => go(steps.length - 1);
  byId("at").oninput = () => go(Number(byId("at").value));
  function faster(by) {
    const speed = byId("speed");
    speed.selectedIndex = Math.max(0, Math.min(speed.length - 1, speed.selectedIndex + by));
    if (timer !== null) { clearTimeout(timer); wait(); }
  }
  byId("speed").onchange = () => faster(0);
  playerKeys(document.getElementById("watch"), {
    " ": toggle, ArrowLeft: () => go(at - 1), ArrowRight: () => go(at + 1), Home: () => go(0), End: () => go(steps.length - 1),
    "+": () => faster(1), "=": () => faster(1), "-": () => faster(-1),
  }, byId("told"), byId("help"));
  if (drawn) byId("seat").onchange = () => show(at);
  chooser.onchange = () => load(Number(chooser.value));
  if (data.games.length) load(0);
})();
