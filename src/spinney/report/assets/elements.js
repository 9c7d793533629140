"use strict";
// Elements of the page. Text always goes in as text: nothing from the data is ever read as HTML.

const SVG = "http://www.w3.org/2000/svg";

// el("p", {class: "note", onclick: f, style: {width: "3px"}}, "text", child, ...)
function el(tag, attributes, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "style") Object.entries(value).forEach(([key, own]) => node.style.setProperty(key, own));
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined) continue;
    if (child.className === "help-box") apart(node);
    node.append(child);
  }
  return node;
}

// The space before a (?) goes from paper together with it.
function apart(node) {
  const text = node.lastChild;
  if (!text || text.nodeType !== Node.TEXT_NODE || !text.data.endsWith(" ")) return;
  text.data = text.data.trimEnd();
  const gap = document.createElement("span");
  gap.className = "gap";
  gap.textContent = " ";
  node.append(gap);
}

// As append(), without what is null.
function put(node, ...children) {
  return filled(node, null, children);
}

function clear(node) {
  node.replaceChildren();
  return node;
}

// --- numbers and words ------------------------------------------------------------------------------------------------

// To a thousandth of the column's range, or to four digits.
function short(value, column) {
  if (!Number.isFinite(value)) return "not known";
  const width = column && column.range ? column.range[1] - column.range[0] : 0, size = Math.abs(value);
  if (size >= 1e15 || (size > 0 && size < 1e-5 && !(width > 0.01))) return value.toPrecision(4).replace(/\.?0+e/, "e");
  const decimals = width > 0 ? clip(3 - Math.floor(Math.log10(width)), 0, 15) : clip(3 - Math.floor(Math.log10(size || 1)), 0, 12);
  return grouped(value, decimals);
}

// With commas from 10,000 on, so that years have none.
function grouped(value, decimals, fixed = false) {
  const text = value.toFixed(decimals), [whole, part] = (fixed ? text : String(Number(text))).split(".");
  const shown = Math.abs(value) >= 1e4 ? whole.replace(/\B(?=(\d{3})+$)/g, ",") : whole;
  return minus(part ? `${shown}.${part}` : shown);
}

// With the sign that is as wide as a plus.
function minus(text) {
  return text.replace(/^-/, "−");
}

function fixed(value, decimals) {
  return minus(value.toFixed(decimals));
}

// As short() shows it, for a field of numbers.
function typed(value, column) {
  return Number(short(value, column).replace(/,/g, "").replace("−", "-"));
}

// A number that was worked out, about to half a hundredth of the column's range; of whole numbers at most one decimal.
function rough(value, column) {
  const width = column.range[1] - column.range[0];
  if (!Number.isFinite(value) || !(width > 1e-9) || Math.abs(value) >= 1e15) return short(value, column);
  return grouped(value, clip(2 - Math.floor(Math.log10(width)), 0, column.whole ? 1 : 12));
}

// A number with its error or spread, which has so many digits; more would say nothing.
function withSpread(value, spread, column, digits) {
  const decimals = digits - 1 - Math.floor(Math.log10(spread));
  if (!(decimals <= 12) || !Number.isFinite(value) || Math.abs(value) >= 1e15) return `${short(value, column)} ± ${short(spread, column)}`;
  return `${grouped(value, Math.max(decimals, 0), true)} ± ${grouped(spread, Math.max(decimals, 0), true)}`;
}

// 0.031, 4.2, 178
function twoDigits(value) {
  return value > 0 && value < 1e15 && value > 1e-12 ? grouped(value, Math.max(1 - Math.floor(Math.log10(value)), 0)) : short(value);
}

function percent(share) {
  if (!Number.isFinite(share)) return "?";
  if (share > 0 && share < 0.001) return "<0.1 %";
  if (share < 1 && share > 0.999) return ">99.9 %";
  return `${share >= 0.0995 ? Math.round(share * 100) : (share * 100).toFixed(1).replace(/\.0$/, "")} %`;
}

function counted(count, noun, plural) {
  return `${count.toLocaleString("en")} ${count === 1 ? noun : plural || `${noun}s`}`;
}

function cutWord(text, most) {
  const visible = text === "" ? "(empty)" : text;
  const letters = [...visible];
  return letters.length <= most ? visible : `${letters.slice(0, most - 1).join("")}…`;
}

// a, b and 3 more
function listed(words, most = 3) {
  if (!words.length) return "none";
  const shown = words.slice(0, words.length <= most ? most : most - 1).map((word) => cutWord(word, 18));
  return words.length <= most ? shown.join(", ") : `${shown.join(", ")} or ${words.length - shown.length} more`;
}

// --- terms ------------------------------------------------------------------------------------------------------------

const TERMS = {
  link: "A link (an edge or arrow of the network) says that two columns go together even when the other columns are known; its direction is a statement about prediction, not a proof of cause.",
  strength: "What the link is worth: how much worse the column at its head would be predicted without it, in nats per row. Without a link of 0.1 nats the rows become about 10 % less probable each, without one of 1 nat 63 %. Below 0, the score would rather do without the link.",
  parents: "The columns whose arrows point at this one: its model predicts it from them.",
  children: "The columns that this one points at: their models use it.",
  blanket: "The Markov blanket: parents, children and the children's other parents. Once these are known, no other column says anything more about this one.",
  compelled: "Drawn solid: every network that says the same about which columns depend on which has this arrow in this direction.",
  reversible: "Drawn dashed: a network that says the same about which columns depend on which has this arrow turned round, so the pattern of links cannot tell its direction.",
  score: "How well the network explains the data, as a natural logarithm: the higher (the nearer to 0), the better. Only differences mean something.",
  bound: "No network over the parent sets that were allowed can score higher than this.",
  gap: "How far the score can still be from the best one, in percent of the score.",
  proof: "Every allowed network was ruled out by calculation, not only those that were tried. It is the best by its score on these rows; that is not a proof that its links are causes.",
  sets: "A parent set is a choice of columns that one column is predicted from; each was given a score, and the network is put together from them.",
  certificate: "What is known about how good the network is among all networks that could have been chosen.",
  kind: "Categorical: names without an order. Ordinal: steps with an order. Continuous: numbers.",
  density: "A smooth histogram: where the curve is high, values are frequent.",
  table: "One line for every combination of the parents' levels, with the probability of each level of this column.",
  tree: "Start at the top and answer the questions; the leaf at the end says what to expect.",
  graph: "As a tree, but different answers may lead to the same leaf.",
  equations: "This column is calculated from its parents, with a spread around the result.",
  hinges: "This column is calculated from its parents. h(x - 5) is a hinge: x - 5 where x is above 5, else 0; so each line bends at a knot. Hinges that are multiplied act together.",
  evidence: "What you know about a case: the page then works out what follows for all other columns.",
  set: "Setting by hand is not the same as knowing: the column is forced to the value, so its usual causes say nothing about it. If the arrows are causes, the answer is the effect of acting.",
  error: "The answer is drawn by chance, so it is not exact: the true value lies within ± of it in 999 of 1,000 cases, unless the page says that the answer is rough.",
  exact: "Worked out in full, without chance; there is no error beyond rounding.",
  effective: "How many drawn cases agree with what you set; the fewer, the rougher the answer.",
  fingerprint: "A number made from the names, kinds and cells of the table, whatever their order: the same fingerprint means the same data.",
  seed: "Where the random numbers start: the same seed gives the same result.",
  rowsleft: "Rows with empty cells that could not be used.",
};

let helpCount = 0;

// (?): one sentence about a term, shown where it is asked for.
function help(term, about) {
  const id = `help-${++helpCount}`;
  const text = el("span", { class: "help-text", id, role: "note", hidden: true }, TERMS[term]);
  const button = el("button", { type: "button", class: "help", "aria-expanded": "false", "aria-controls": id,
    "aria-label": `What does this mean: ${about || term}?` }, "?");
  button.addEventListener("click", (event) => {
    event.stopPropagation();
    const open = text.hidden;
    for (const other of document.querySelectorAll(".help[aria-expanded=true]")) closeHelp(other);
    text.hidden = !open;
    button.setAttribute("aria-expanded", String(open));
  });
  button.addEventListener("keydown", (event) => event.key === "Escape" && closeHelp(button));
  return el("span", { class: "help-box" }, button, text);
}

function closeHelp(button) {
  button.setAttribute("aria-expanded", "false");
  document.getElementById(button.getAttribute("aria-controls")).hidden = true;
}

// --- small parts ------------------------------------------------------------------------------------------------------

function heading(level, id, text, term) {
  return el(`h${level}`, { id }, text, term ? [" ", help(term, text)] : null);
}

// A text that may break after the signs that join words in names.
function breakable(text) {
  return text.split(/(?<=[_.\-/:])/).flatMap((part, i) => (i ? [el("wbr"), part] : [part]));
}

// The name of a column as a button that opens its page.
function nodeButton(page, i) {
  const name = page.net.columns[i].name;
  return el("button", { type: "button", class: "node-link", title: name.length > 40 ? name : null,
    onclick: () => page.choose(i, true) }, breakable(cutWord(name, 40)));
}

// Names as buttons, with commas; cut with a button that shows the rest.
function nodeList(page, nodes, most = 12) {
  const host = el("span", { class: "node-list" });
  const fill = (count) => {
    clear(host);
    nodes.slice(0, count).forEach((i, at) => host.append(at ? " " : "", nodeButton(page, i)));
    if (nodes.length > count) {
      host.append(" ", el("button", { type: "button", class: "plain", onclick: () => fill(nodes.length) },
        `and ${nodes.length - count} more`));
    }
    if (!nodes.length) host.append("none");
  };
  fill(most);
  return host;
}

// A table with a caption; rows beyond `most` come with a button.
function dataTable(caption, heads, rows, most = 100) {
  const body = el("tbody");
  const line = (cells) => el("tr", {}, cells.map((cell, i) => el(i ? "td" : "th", i ? {} : { scope: "row" }, cell)));
  body.append(...rows.slice(0, most).map(line));
  const table = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el("table", {}, el("caption", {}, caption),
      el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))), body));
  if (rows.length <= most) return table;
  const more = el("button", { type: "button", class: "plain", onclick: () => {
    body.append(...rows.slice(most).map(line));
    more.remove();
  } }, `Show all ${rows.length.toLocaleString("en")} rows`);
  return el("div", {}, table, more);
}
