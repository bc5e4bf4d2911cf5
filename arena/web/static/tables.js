// Games at a table: cards, and goods to divide.
import { el } from "./dom.js";

const RANKS = ["J", "Q", "K"];
const SUITS = { s: "♠", h: "♥", d: "♦", c: "♣" };
const card = (text) => el("div", { class: "card", role: "img", "aria-label": `card ${text}` }, text);
const back = () => el("div", { class: "card back", role: "img", "aria-label": "a card face down" }, "?");
const none = (text) => el("div", { class: "card none" }, text);
const named = (name, held, chips) => el("div", { class: "hand" }, el("div", {}, el("div", {}, name), el("div", { class: "chips" }, chips)), held);
const felt = (...parts) => el("div", { class: "felt" }, parts);

// -------------------------------------------------------------------------------- Kuhn and Leduc poker

const ofPoker = (number, missing, rank) => (number === null || number === undefined || number < 0 ? none(missing) : card(RANKS[rank(number)]));
function kuhn(seen, legal, play, before, about) {
  const now = seen.observation;
  const own = now.player;
  const hands = about.names.map((name, seat) => named(name, seat === own ? ofPoker(now.private_card, "not dealt", (rank) => rank) : back(), `${now.contributions[seat]} in the pot`));
  const said = el("div", {}, now.betting.length ? `Said so far: ${now.betting.join(", ")}` : "Nothing has been said yet.");
  return { board: felt(hands.filter((_, seat) => seat !== own), said, hands[own]), all: false };
}
function leduc(seen, legal, play, before, about) {
  const now = seen.observation;
  const own = now.player;
  const rank = (number) => Math.floor(number / 2);
  const hands = about.names.map((name, seat) => named(name, seat === own ? ofPoker(now.private_card, "none yet", rank) : back(), `money ${now.money[seat]}`));
  const said = [now.round_1_betting, now.round_2_betting].map((words, round) => (words.length ? el("div", {}, `Round ${round + 1}: ${words.join(", ")}`) : null));
  const middle = el("div", { class: "hand" }, el("div", {}, "On the table"), ofPoker(now.public_card, "none yet", rank), el("div", { class: "chips" }, `pot ${now.pot}`));
  return { board: felt(hands.filter((_, seat) => seat !== own), middle, said, hands[own]), all: false };
}

// -------------------------------------------------------------------------------- cards with suits

// A card: to be clicked where that is a move. Suits differ by sign, and red ones by more than their hue: they lean.
function face(text, action, play, name = "") {
  const suit = text.slice(-1).toLowerCase();
  const kind = `card small ${suit === "h" || suit === "d" ? "red-suit" : ""} ${name}`;
  const words = [el("b", {}, text[0] === "T" ? "10" : text[0]), el("span", {}, (SUITS[suit] || suit) + "\uFE0E")];
  return action ? el("button", { type: "button", class: `${kind} playable`, "aria-label": action, click: () => play(action) }, words) : el("div", { class: kind, role: "img", "aria-label": `card ${text}` }, words);
}
const hidden = (count) => Array.from({ length: Math.max(0, Math.min(20, count)) }, () => el("div", { class: "card small back" }));
const row = (...cards) => el("div", { class: "cards" }, cards);
const offers = (actions, play) => el("div", { class: "row" }, actions.map((action) => el("button", { type: "button", click: () => play(action) }, action)));
const ORDER = "A23456789TJQK";
const tidy = (cards) => [...cards].sort((one, other) => one.slice(-1).localeCompare(other.slice(-1)) || ORDER.indexOf(one[0]) - ORDER.indexOf(other[0]));

function gin(seen, legal, play, before, about) {
  const now = seen.observation;
  const own = now.player ?? 0;
  const hands = now.hands || [0, 1].map((seat) => (seat === own ? now.hand : now.opponent_hand));
  const fresh = before?.observation?.hand;
  const melds = (seat) => now.laid_melds[seat].map((meld) => row(meld.map((one) => face(one))));
  const other = 1 - own;
  const known = now.known_cards[other];
  const shownHand = hands[other] ? tidy(hands[other]).map((one) => face(one)) : [known.map((one) => face(one)), hidden(10 - known.length - now.laid_melds[other].flat().length)];
  const held = new Set(hands[own]);
  const mine = tidy(hands[own]).map((one) => face(one, legal.includes(one) ? one : null, play, Array.isArray(fresh) && !fresh.includes(one) ? "fresh" : ""));
  const upcard = now.upcard ? face(now.upcard, legal.find((action) => action === "Draw upcard"), play) : none("no upcard");
  const stock = legal.includes("Draw stock") ? el("button", { type: "button", class: "card small back playable", "aria-label": "Draw stock", click: () => play("Draw stock") }) : el("div", { class: "card small back" });
  const rest = legal.filter((action) => !held.has(action) && action !== "Draw stock" && !(action === "Draw upcard" && now.upcard));
  const deadwood = Array.isArray(now.deadwood) ? now.deadwood[own] : now.deadwood;
  return {
    board: felt(
      el("div", {}, about.names[other], now.knocked[other] ? " has knocked" : ""), row(shownHand), melds(other),
      el("div", { class: "hand" }, el("div", {}, "upcard"), upcard, el("div", {}, `stock ${now.stock_size}`), stock, el("div", { class: "chips" }, `knock at ${now.knock_card}`)),
      now.discard_pile.length ? el("div", { class: "cards faint" }, el("span", {}, "discards"), now.discard_pile.slice(-12).map((one) => face(one))) : null,
      melds(own), row(mine), el("div", { class: "chips" }, `${about.names[own]}: deadwood ${deadwood}, phase ${now.phase}`), offers(rest, play)),
    all: true,
  };
}
function war(seen, legal, play, before, about) {
  const now = seen.observation;
  const own = now.player ?? 0;
  const sizes = (name, pile) => now[name] || now[pile].map((cards) => cards.length);
  const [held, draws, won] = [sizes("hand_sizes", "hands"), sizes("draw_pile_sizes", "draw_piles"), sizes("win_pile_sizes", "win_piles")];
  const hands = [0, 1].map((seat) => (now.hands ? now.hands[seat].map((one) => face(one)) : seat === own ? now.hand.map((one) => face(one, legal.find((action) => action === `play ${one}`), play)) : hidden(held[seat])));
  const piles = (seat) => el("div", { class: "chips" }, `${about.names[seat]}: won ${won[seat]}, still to draw ${draws[seat]}`);
  const other = 1 - own;
  const strength = "JQKA";
  const battles = now.battles.map((pair) => {
    const better = Math.sign(strength.indexOf(pair[0][0]) - strength.indexOf(pair[1][0]));
    return el("div", { class: "battle" }, [other, own].map((seat) => face(pair[seat], null, null, better && (better > 0) === (seat === 0) ? "better" : "")));
  });
  const count = now.table_size ?? now.table.length;
  const lies = [count ? `${count} cards lie on the table` : "", now.face_down ? "a card lies face down" : ""].filter(Boolean).join("; ");
  return {
    board: felt(piles(other), row(hands[other]), el("div", { class: "cards" }, battles.length ? battles : "No battle yet."), lies ? el("div", { class: "hand" }, lies, now.face_down ? face(now.face_down) : null) : null, row(hands[own]), piles(own)),
    all: legal.every((action) => action.startsWith("play ")),
  };
}

// -------------------------------------------------------------------------------- goods to divide

function bargaining(seen, legal, play, before, about) {
  const now = seen.observation;
  const own = now.player ?? Math.max(0, now.current_player);
  const values = now.own_values || now.values[own];
  const kinds = Object.keys(now.pool);
  const last = now.offers.at(-1);
  const worth = (keeps, ours) => kinds.reduce((sum, kind) => sum + values[kind] * (ours ? keeps[kind] : now.pool[kind] - keeps[kind]), 0);
  const goods = (count, kind, mine) => Array.from({ length: Math.min(10, count) }, () => el("span", { class: mine ? "good mine" : "good", title: kind }, kind.slice(0, 2)));
  const told = now.offers.map((offer) => {
    const ours = offer.player === own;
    const kept = kinds.map((kind) => `${offer.keeps[kind]} ${kind}`).join(", ");
    return el("li", { class: ours ? "own" : "" }, `${about.names[offer.player]} keeps ${kept} `, el("b", {}, `(${worth(offer.keeps, ours)} for ${about.names[own]})`));
  });
  const keep = Object.fromEntries(kinds.map((kind) => [kind, !last ? now.pool[kind] : last.player === own ? last.keeps[kind] : now.pool[kind] - last.keeps[kind]]));
  const total = el("b");
  const action = () => `keep ${kinds.map((kind) => `${keep[kind]} ${kind}`).join(", ")}`;
  const offer = el("button", { type: "button", class: "main", click: () => play(action()) });
  const lines = kinds.map((kind) => {
    const mine = el("td", { class: "pile" });
    const theirs = el("td", { class: "pile" });
    const show = () => {
      mine.replaceChildren(`${keep[kind]} `, ...goods(keep[kind], kind, true));
      theirs.replaceChildren(`${now.pool[kind] - keep[kind]} `, ...goods(now.pool[kind] - keep[kind], kind, false));
      total.textContent = `${worth(keep, true)} of 10`;
      offer.textContent = `Offer: I ${action()}`;
    };
    const step = (by) => () => { keep[kind] = Math.max(0, Math.min(now.pool[kind], keep[kind] + by)); show(); };
    show();
    const buttons = legal.length ? [el("button", { type: "button", "aria-label": `one of the ${kind} less`, click: step(-1) }, "−"), " ", el("button", { type: "button", "aria-label": `one of the ${kind} more`, click: step(1) }, "+")] : null;
    return el("tr", {}, el("th", { scope: "row" }, kind), el("td", { class: "number" }, values[kind]), mine, theirs, buttons ? el("td", {}, buttons) : null);
  });
  const heads = [about.names[own], "worth", "keeps", "gives", ...(legal.length ? [""] : [])];
  const say = legal.length ? el("div", { class: "row" }, offer, legal.includes("agree") ? el("button", { type: "button", click: () => play("agree") }, `Agree: ${worth(last.keeps, false)} for me`) : null, el("span", {}, "my share: ", total)) : null;
  return {
    board: el("div", { class: "panel" }, el("div", { class: "wide" }, el("table", { class: "goods" }, el("tr", {}, heads.map((head) => el("th", {}, head))), lines)), say, el("h2", {}, now.agreed ? "Agreed" : `Offers (${now.offers.length} of 9)`), told.length ? el("ol", { class: "log" }, told) : el("p", { class: "soft" }, "None yet.")),
    all: true,
  };
}

export const TABLES = { kuhn_poker: kuhn, leduc_poker: leduc, gin_rummy: gin, hand_of_war: war, bargaining };
