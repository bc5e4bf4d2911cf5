// Legal moves as buttons: in groups by what they begin with, with a field that finds some of many.
import { el } from "./dom.js";

const FEW = 12;
const heading = (action) => (action.match(/^[^\d(\[]*?(?=[\s_(\[]*\d)/)?.[0] || "").trim().replace(/[_(:,-]+$/, "");

function grouped(actions) {
  const groups = new Map();
  for (const action of actions) {
    const name = heading(action);
    groups.set(name, [...(groups.get(name) || []), action]);
  }
  return groups.size > 1 && groups.size <= actions.length / 2 ? groups : new Map([["", actions]]);
}
export function moves(actions, play) {
  const buttons = [];
  const groups = [...grouped(actions)].map(([name, own]) => {
    const made = own.map((action) => {
      const button = el("button", { type: "button", click: () => play(action) }, action);
      buttons.push([action.toLowerCase(), button]);
      return button;
    });
    return el("div", { class: "group" }, name ? el("b", {}, `${name} (${own.length})`) : null, el("div", { class: "moves" }, made));
  });
  if (actions.length <= FEW) return el("div", {}, groups);
  const find = el("input", { type: "search", placeholder: `find among ${actions.length} moves`, "aria-label": "Find moves" });
  find.addEventListener("input", () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const [text, button] of buttons) button.hidden = !words.every((word) => text.includes(word));
  });
  find.addEventListener("keydown", (event) => {
    const left = buttons.filter(([, button]) => !button.hidden);
    if (event.key === "Enter" && left.length === 1) left[0][1].click();
  });
  return el("div", {}, find, groups);
}
