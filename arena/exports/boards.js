"use strict";
// Lays out the parts of a drawn frame as boards of their own: the truth, and what one seat sees, cropped to the cells in use.
function boards(root) {
  const CELL = 52, INSET = 4, SVG = root.querySelector("svg").namespaceURI;
  const halves = [...root.querySelectorAll(".half")].map((half) => ({
    half, heading: half.querySelector("h4"), cards: half.querySelector(".board .drawn"), empty: half.querySelector(".board .empty"),
    board: half.querySelector(".board"), beside: half.querySelector(".beside .drawn"), besides: half.querySelector(".beside"),
  }));
  function element(parent, name, attributes, text) {
    const made = document.createElementNS(SVG, name);
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    if (text !== undefined) made.textContent = text;
    parent.append(made);
  }
  function crop(texts) {
    const cells = [];
    texts.forEach((text) => {
      for (const [, x, y] of text.matchAll(/class="card" transform="translate\((\d+) (\d+)\)"/g)) cells.push([(x - INSET) / CELL, (y - INSET) / CELL]);
    });
    if (!cells.length) return;
    const columns = cells.map(([x]) => x), rows = cells.map(([, y]) => y);
    const left = Math.min(...columns), right = Math.max(...columns) + 1, top = Math.min(...rows), bottom = Math.max(...rows) + 1;
    const [x, y, width, height] = [left * CELL, top * CELL, (right - left) * CELL, (bottom - top) * CELL];
    halves.forEach(({ board, empty }) => {
      board.setAttribute("viewBox", [x - 22, y - 22, width + 26, height + 26].join(" "));
      empty.replaceChildren();
      element(empty, "rect", { class: "board", x, y, width, height, rx: 4 });
      let lines = "";
      for (let row = top + 1; row < bottom; row++) lines += `M${x} ${row * CELL}h${width}`;
      for (let column = left + 1; column < right; column++) lines += `M${column * CELL} ${y}v${height}`;
      element(empty, "path", { class: "lines", d: lines });
      for (let column = left; column < right; column++) element(empty, "text", { class: "axis", x: (column + 0.5) * CELL, y: y - 6 }, column);
      for (let row = top; row < bottom; row++) element(empty, "text", { class: "axis", x: x - 12, y: (row + 0.5) * CELL + 4 }, row);
    });
  }
  function draw(frame, seat) {
    const view = seat === "" ? frame.querySelector(".view:not([data-seat])") : frame.querySelector(`.view[data-seat="${seat}"]`);
    [frame.querySelector(".truth"), view].forEach((source, number) => {
      const to = halves[number];
      to.heading.textContent = source.querySelector(".heading").textContent;
      for (const [name, place] of [["cards", to.cards], ["beside", to.beside]]) {
        const copy = source.querySelector("." + name).cloneNode(true);
        copy.removeAttribute("transform");
        place.replaceChildren(copy);
      }
      const box = to.beside.getBBox();
      to.besides.setAttribute("viewBox", `-2 -6 232 ${Math.ceil(box.y + box.height + 12)}`);
    });
  }
  return { crop, draw, truth: (shown) => halves[0].half.classList.toggle("hides", !shown) };
}
