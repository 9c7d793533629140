"use strict";
// The parts of the page that only tell: the headline, the search, the data, how to do it again.

function headline(page, host) {
  const { facts, net } = page, learned = facts.search;
  host.append(el("h1", { id: "title" }, facts.title));
  const text = el("div", { class: "headline-text" }), rows = facts.rows;
  text.append(el("p", { class: "lead" }, rows ? `From ${counted(rows, "row")} of ${counted(net.columns.length, "column")}, spinney ${learned || facts.again.search ? "learned" : "has"} a network with ${counted(facts.edges.length, "direct link")} ` : `A network of ${counted(net.columns.length, "column")} with ${counted(facts.edges.length, "direct link")} `, help("link", "link"), "."));
  put(text, strongest(page), alone(page), sureDirections(facts), targetBox(page));
  put(host, el("div", { class: "headline" }, text, seal(facts)), warnings(facts));
}

function strongest(page) {
  const { facts } = page, known = facts.edges.filter((edge) => edge.strength !== null && edge.strength > 0).sort((a, b) => b.strength - a.strength);
  if (!known.length) return null;
  return el("div", {}, el("p", {}, known.length > 1 ? "The strongest links " : "The one link ", help("strength", "strength of a link"), ":"),
    el("ol", { class: "strongest" }, known.slice(0, 5).map((edge) => el("li", {}, nodeButton(page, edge.from), edge.compelled ? " → " : " — ", nodeButton(page, edge.to), el("span", { class: "small" }, ` ${strengthName(edge.strength)}: ${edge.strength.toFixed(2)} nats per row`)))));
}

function alone(page) {
  const { net } = page, free = [...net.columns.keys()].filter((i) => !net.nodes[i].parents.length && !net.children[i].length);
  if (!free.length) return null;
  return el("p", {}, free.length === 1 ? "One column is linked to no other: " : `${counted(free.length, "column")} are linked to no other: `, nodeList(page, free, 6), ".");
}

function sureDirections(facts) {
  if (!facts.edges.length) return null;
  const sure = facts.edges.filter((edge) => edge.compelled).length;
  const words = sure === facts.edges.length ? "The pattern of links fixes the direction of each of them" : sure ? `The pattern of links fixes the direction of ${sure} of them; the other ${facts.edges.length - sure} could as well point the other way` : "No direction is fixed: each link could as well point the other way";
  return el("p", {}, `${words} `, help(sure ? "compelled" : "reversible", "direction of a link"), ".");
}

// What predicts a column that the reader chooses.
function targetBox(page) {
  const { net, facts } = page, answer = el("span", { "aria-live": "polite" });
  const select = el("select", { id: "target", onchange: () => show() }, net.columns.map((column, i) => el("option", { value: i }, cutWord(column.name, 50))));
  select.value = page.opening;
  const show = () => {
    const i = Number(select.value), blanket = byStrength(facts, i, net.blanket(i));
    clear(answer);
    if (!blanket.length) answer.append(" nothing: no other column says anything about it.");
    else put(answer, " ", nodeList(page, blanket, 10), blanket.length < net.columns.length - 1 ? `. Once ${blanket.length === 1 ? "it is" : "these are"} known, the other ${counted(net.columns.length - 1 - blanket.length, "column")} add nothing ` : blanket.length > 1 ? ": each of the others adds something " : " ", help("blanket", "Markov blanket"), ".");
  };
  show();
  return el("p", { class: "target" }, el("label", { for: "target" }, "What predicts"), select, ":", answer);
}

// The strongest links of column i first; last those that say something only together with a child of it.
function byStrength(facts, i, nodes) {
  const found = new Map(facts.edges.filter((edge) => edge.from === i || edge.to === i).map((edge) => [edge.from === i ? edge.to : edge.from, edge.strength ?? 0]));
  return nodes.slice().sort((a, b) => (found.get(b) ?? -Infinity) - (found.get(a) ?? -Infinity) || a - b);
}

// The last column of the table that has links; tables often end with the outcome.
function usualTarget(net) {
  for (let i = net.columns.length - 1; i >= 0; i--) if (net.blanket(i).length) return i;
  return 0;
}

// --- the certificate --------------------------------------------------------------------------------------------------

function sealWords(found) {
  if (!found) return ["unknown", "No certificate", "This file holds the network, not the search that found it."];
  const most = found.max_parents === null ? "of any size" : `of up to ${counted(found.max_parents, "parent")}`;
  const over = found.over || `${found.families ? `all ${found.families.toLocaleString("en")} parent sets` : "parent sets"} ${most}${found.constrained ? ", within your constraints" : ""}`;
  if (found.closed) return ["proven", found.over ? "Best of what was scored" : "Proven best", `No other network over ${over} scores higher.`];
  if (found.gap !== null) {
    const gap = 100 * found.gap;
    return ["gap", `At most ${gap < 0.01 ? "0.01" : gap.toFixed(gap < 1 ? 2 : 1)} % from the best`, `No network over ${over} can score more than ${fixed(found.bound, 2)}; this one has ${fixed(found.score, 2)}.`];
  }
  const tree = found.unproven.includes("tree");
  return ["none", tree ? "The best tree" : "No proof: local search", tree ? "No other tree scores higher; networks that are no trees may." : "A good network was found step by step; a better one may exist. A longer --time-limit, or --search exact, may prove one."];
}

function seal(facts) {
  const [kind, title, words] = sealWords(facts.search);
  const marks = { proven: "M-12 1l8 9l16 -19", gap: "M-13 4q6 -9 13 -2t13 -4", none: "M-11 0h22", unknown: "M-11 0h22" };
  return el("div", { class: `seal ${kind}` },
    svg("svg", { viewBox: "-50 -50 100 100", width: 96, height: 96, "aria-hidden": "true" },
      svg("path", { d: wavy(46, 42, 24), class: "seal-edge" }), svg("circle", { r: 33, class: "seal-ring" }), svg("path", { d: marks[kind], class: "seal-mark" })),
    el("div", {}, el("p", { class: "seal-title" }, title, " ", help(kind === "proven" ? "proof" : kind === "gap" ? "gap" : "certificate", "certificate")), el("p", { class: "small" }, words)));
}

function wavy(outer, inner, teeth) {
  let d = "";
  for (let k = 0; k < teeth * 2; k++) {
    const angle = (Math.PI * k) / teeth, r = k % 2 ? inner : outer;
    d += `${k ? "L" : "M"}${(r * Math.cos(angle)).toFixed(1)} ${(r * Math.sin(angle)).toFixed(1)}`;
  }
  return `${d}Z`;
}

const ALIKE = 0.8; // the part of the rows from which on one value is nearly all there is

function warnings(facts) {
  const found = [];
  if (facts.data.rows_dropped) found.push(`${counted(facts.data.rows_dropped, "row")} of ${(facts.data.rows + facts.data.rows_dropped).toLocaleString("en")} with empty cells were left out.`);
  if (facts.data.left_out.length) found.push(`${counted(facts.data.left_out.length, "column")} ${facts.data.left_out.length === 1 ? "was" : "were"} left out: ${listed(facts.data.left_out.map(([name]) => name), 5)}.`);
  const alike = facts.columns.filter((column) => column.same > ALIKE * facts.rows);
  if (alike.length) {
    const most = alike.slice(0, 5).map((column) => `${cutWord(column.name, 30)} (${column.same.toLocaleString("en")} of ${facts.rows.toLocaleString("en")})`);
    found.push(`Nearly all rows have the same number in ${most.join(", ")}${alike.length > 5 ? ` and ${alike.length - 5} more` : ""}: models of numbers take that for precision, so the links of ${alike.length === 1 ? "this column" : "these columns"} look stronger than they are.`);
  }
  const search = facts.search;
  if (search && search.stopped) found.push(`The search ended early (${search.stopped}): more time may find a better network.`);
  found.push(...(search ? search.notes : []));
  if (facts.rows && facts.rows < 20 * facts.columns.length) found.push(`There are only ${counted(facts.rows, "row")} for ${counted(facts.columns.length, "column")}: weak links may be missing, and some may be there by chance.`);
  if (!found.length && !facts.data.notes.length) return null;
  const notes = facts.data.notes.length ? el("details", {}, el("summary", {}, `${counted(facts.data.notes.length, "decision")} about data and models`), el("ul", {}, facts.data.notes.map((note) => el("li", {}, note)))) : null;
  return el("div", { class: found.length ? "warnings" : "warnings calm", role: "group", "aria-label": found.length ? "Warnings" : "Decisions" }, found.length ? [el("h2", {}, "To keep in mind"), el("ul", {}, found.map((words) => el("li", {}, words)))] : null, notes);
}

// --- the search -------------------------------------------------------------------------------------------------------

function searchPart(page, host) {
  const found = page.facts.search, again = page.facts.again;
  host.append(heading(2, "search-title", "How it was found"));
  if (!found) {
    host.append(el("p", {}, again.search ? `It was learned with the score ${again.score} and the search ${again.search}; the way of the search is not in the file. ` : "The file does not say how the network was found. "));
    return;
  }
  const seconds = Object.values(found.seconds).reduce((a, b) => a + b, 0);
  const because = (words) => (words ? ` Why: ${words}.` : "");
  const about = (words) => (words ? `: ${words}` : "");
  host.append(el("p", {}, `Score ${again.score} `, help("score", "score"), `${about(again.score_help)}.${because(again.why_score)}`),
    el("p", {}, `Search ${again.search}${about(again.search_help)}.${because(found.why)} It all took ${seconds < 0.1 ? "less than 0.1" : seconds.toFixed(seconds < 10 ? 1 : 0)} seconds.`));
  const facts = [["score", fixed(found.score, 2)], ["bound", found.bound === null ? "not known" : fixed(found.bound, 2)], ["gap", found.gap === null ? "not known" : found.gap > 0 ? `${(100 * found.gap).toPrecision(2)} %` : "0 %"]];
  if (found.families) facts.push(["parent sets scored", found.families.toLocaleString("en")], ["kept for the search", found.kept.toLocaleString("en")]);
  host.append(el("dl", { class: "facts" }, facts.map(([name, value]) => [el("dt", {}, name, " ", TERMS[name] ? help(name, name) : ""), el("dd", {}, value)])));
  if (found.trace.length > 1) host.append(traceChart(found));
  if (found.stages.length) host.append(dataTable("Stages of the search", ["stage", "seconds", "parent sets left"], found.stages.map(([stage, time, left]) => [STAGES[stage] || stage, time.toFixed(2), left.toLocaleString("en")])));
  if (found.alternatives.length) host.append(dataTable("The next best networks", ["rank", "score", "where it differs"], found.alternatives.map((other, k) => [`${k + 2}.`, fixed(other.score, 4), other.differs.map((own) => `${own.child} ← ${own.parents.join(", ") || "nothing"}`).join("; ")])));
}

const STAGES = {
  listed: "all parent sets that were kept", clean: "taken out what no best network can have", climb: "a first network, step by step",
  ascent: "bounds by shifting costs between links", dp: "all orders, by dynamic programming", lp: "bounds by linear programming", branch: "the rest, case by case",
};

// Score and bound over time; the area between them is what is not known.
function traceChart(found) {
  const points = found.trace, last = points[points.length - 1][0] || 1e-9;
  const scores = points.map((point) => point[1]).filter(Number.isFinite), bounds = points.map((point) => point[2]).filter((value) => value !== null && Number.isFinite(value));
  const low = Math.min(...scores.slice(Math.floor(scores.length / 4)), found.score), high = Math.max(...scores, ...bounds);
  const room = (high - low) * 0.06 || 1;
  const { root, sx, sy } = frame({ width: 680, height: 240, x: [0, last], y: [low - room, high + room], label: "seconds", yLabel: "score", words: `The score rose to ${fixed(found.score, 2)}${bounds.length ? `, the bound fell to ${fixed(bounds[bounds.length - 1], 2)}` : ""} in ${short(last)} seconds` });
  const line = (place, ink, dash) => {
    let d = "", before = null;
    for (const point of points) {
      if (point[place] === null || !Number.isFinite(point[place])) continue;
      const x = sx(point[0]), y = sy(clip(point[place], low - room, high + room));
      d += before === null ? `M${x} ${y}` : `H${x}V${y}`;
      before = y;
    }
    if (d) root.append(svg("path", { d: `${d}H${sx(last)}`, class: "curve", stroke: ink, "stroke-dasharray": dash }));
  };
  line(1, INKS[0], "");
  line(2, INKS[1], "6 3");
  return el("figure", {}, root, el("figcaption", {}, "Solid: the best score so far. ", bounds.length ? "Dashed: the bound that no network can exceed. " : "", help("bound", "bound")));
}

// --- the data and doing it again --------------------------------------------------------------------------------------

function dataPart(page, host) {
  const { facts, net } = page;
  host.append(heading(2, "data-title", "The data", "kind"));
  if (facts.data.rows) host.append(el("p", {}, `${counted(facts.data.rows, "row")} were used${facts.data.rows_dropped ? `, ${counted(facts.data.rows_dropped, "row")} with empty cells were not` : ""}. The page holds counts only: no row of the data can be read from it.`));
  const rows = net.columns.map((column, i) => [nodeButton(page, i), column.kind, column.levels ? `${counted(column.levels.length, "level")}: ${column.levels.slice(0, 4).map((level) => cutWord(level, 16)).join(column.kind === "ordinal" ? " < " : ", ")}${column.levels.length > 4 ? ", …" : ""}` : `${short(column.range[0], column)} to ${short(column.range[1], column)}`, column.reason || ""]);
  host.append(dataTable("Columns", ["column", "kind", "levels or range", "why this kind"], rows, 60));
  if (facts.data.left_out.length) host.append(dataTable("Columns that were left out", ["column", "why"], facts.data.left_out));
}

function againPart(page, host) {
  const again = page.facts.again;
  host.append(heading(2, "again-title", "Do it again"));
  if (again.command) host.append(el("p", {}, "The command:"), code(again.command, "The command"));
  if (again.lines) host.append(el("p", {}, "The same in Python:"), code(again.lines.join("\n"), "The lines of Python"));
  if (!again.command && !again.lines) host.append(el("p", {}, "The file does not say how the network was made."));
  const facts = [["spinney", again.versions.spinney], ["learned with spinney", again.learned_with], ["Python", again.versions.Python], ["numpy", again.versions.numpy], ["machine", again.machine], ["seed", again.seed], ["fingerprint", again.fingerprint]];
  host.append(el("dl", { class: "facts" }, facts.filter(([, value]) => value !== null && value !== undefined).map(([name, value]) => [el("dt", {}, name, " ", TERMS[name] ? help(name, name) : ""), el("dd", { class: "breaks" }, String(value))])));
}

function code(text, label) {
  const pre = el("pre", {}, text);
  const button = el("button", { type: "button", class: "plain copy", "aria-label": `Copy: ${label}`, onclick: () => {
    const range = document.createRange();
    range.selectNodeContents(pre);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    button.textContent = document.execCommand("copy") ? "copied" : "press Ctrl+C";
  } }, "copy");
  return el("div", { class: "code" }, el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, pre), button);
}
