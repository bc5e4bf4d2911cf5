"use strict";
// Keys of a player of steps, heard where `root` has the focus; `?` and `button` show or hide what they do, `help`.
function playerKeys(root, acts, help, button) {
  function told() {
    help.hidden = !help.hidden;
    button.setAttribute("aria-expanded", String(!help.hidden));
  }
  button.onclick = told;
  root.addEventListener("keydown", (event) => {
    const act = event.key === "?" ? told : acts[event.key], on = event.target;
    if (!act || event.ctrlKey || event.metaKey || event.altKey || on.tagName === "SELECT") return;
    // A button or a box that was reached by keys is pressed by space.
    if (event.key === " " && on.nodeType === 1 && on.matches("button:focus-visible, input[type=checkbox]")) return;
    event.preventDefault();
    act();
  });
}
