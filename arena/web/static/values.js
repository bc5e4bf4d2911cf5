// Any JSON value as a table that people can read; what differs from an earlier value is marked.
import { el } from "./dom.js";

const MOST = 400; // rows of one table
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
const isPlain = (value) => value === null || typeof value !== "object";
const isGrid = (value) => value.length > 1 && value.length <= 64 && value.every((row) => Array.isArray(row) && row.length === value[0].length && row.length > 1 && row.length <= 64 && row.every(isPlain));

function plain(value) {
  if (value === null) return el("span", { class: "null" }, "–");
  if (value === "") return el("span", { class: "null" }, "“”");
  return String(value);
}
function cell(value, before, known) {
  const changed = known && !same(value, before);
  const marked = changed && (isPlain(value) || isPlain(before));
  return el("td", { class: (marked ? "changed" : "") + (typeof value === "number" ? " number" : "") }, shown(value, before, known));
}
function grid(value, before, known) {
  return el("div", { class: "wide" }, el("table", {}, value.map((row, number) => el("tr", {}, row.map((item, column) => cell(item, before?.[number]?.[column], known))))));
}
function list(value, before, known) {
  if (value.length === 0) return el("span", { class: "null" }, "none");
  if (isGrid(value)) return grid(value, before, known && Array.isArray(before));
  if (value.length <= 200 && value.every(isPlain)) return el("div", { class: "items" }, value.map((item, number) => el("span", { class: known && !same(item, before?.[number]) ? "changed" : "", title: number }, plain(item))));
  return rows(value.map((item, number) => [String(number), item, before?.[number]]), known);
}
function rows(entries, known) {
  const more = entries.length > MOST ? [el("tr", {}, el("td", { colspan: 2 }, `… and ${entries.length - MOST} more`))] : [];
  return el("table", {}, entries.slice(0, MOST).map(([name, item, before]) => el("tr", {}, el("th", { scope: "row" }, name), cell(item, before, known))), more);
}
// `known`: whether there was an earlier value, `before`, to compare with.
export function shown(value, before, known = false) {
  if (isPlain(value)) return plain(value);
  if (Array.isArray(value)) return list(value, before, known);
  const entries = Object.entries(value).map(([name, item]) => [name, item, before?.[name]]);
  return entries.length ? rows(entries, known) : el("span", { class: "null" }, "nothing");
}
