// Elements are made by hand: what others wrote becomes text, never markup.
const SVG = "http://www.w3.org/2000/svg";

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined).map((child) => (child instanceof Node ? child : String(child))));
  return node;
}
export const el = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);
export const svg = (tag, attributes = {}, ...children) => filled(document.createElementNS(SVG, tag), attributes, children);

// The server's own drawing, whose words it has escaped.
export function drawn(body, box, name) {
  const text = `<svg xmlns="${SVG}" viewBox="${box.map(Number).join(" ")}">${body}</svg>`;
  const root = document.importNode(new DOMParser().parseFromString(text, "image/svg+xml").documentElement, true);
  root.setAttribute("class", name);
  root.setAttribute("role", "group");
  return root;
}

async function answered(response) {
  let data = {};
  try { data = await response.json(); } catch { data = { error: "The server gave no answer that can be read." }; }
  if (!response.ok) throw new Error(data.error || `The server said ${response.status}.`);
  return data;
}
export const ask = async (address) => answered(await fetch(address, { credentials: "same-origin" }));
export const send = async (address, data) =>
  answered(await fetch(address, { method: "POST", credentials: "same-origin", headers: { "Content-Type": "application/json" }, body: JSON.stringify(data) }));

export const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
export const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
export const main = document.getElementById("main");
export const key = main.dataset.key;

export function tell(error) {
  main.replaceChildren(el("p", { class: "error", role: "alert" }, error.message || String(error)), el("p", {}, el("a", { href: "/" }, "To the first page")));
}
// A press of Enter or Space on what is no button.
export const pressed = (act) => (event) => {
  if (event.key !== "Enter" && event.key !== " ") return;
  event.preventDefault();
  act();
};
// A part of a picture that can be clicked, and pressed by keys.
export const touch = (x, y, width, height, label, act, name = "touch") =>
  svg("rect", { class: name, x, y, width, height, tabindex: 0, role: "button", "aria-label": label, click: act, keydown: pressed(act) });
export function bar(share) {
  const part = Math.max(0, Math.min(1, Number(share) || 0)) * 100;
  return el("span", { class: "meter", title: `${Math.round(part)} %` }, svg("svg", { class: "meter-bar", viewBox: "0 0 100 10", preserveAspectRatio: "none" }, svg("rect", { class: "part", width: part, height: 10 })));
}
