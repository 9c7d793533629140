"use strict";
// Charts: bars of shares, histograms with densities, heat tables, curves. Each has words for those who do not see it.

const INKS = ["var(--ink-1)", "var(--ink-2)", "var(--ink-3)", "var(--ink-4)", "var(--ink-5)", "var(--ink-6)", "var(--ink-7)"];
const DASHES = ["", "6 3", "2 3", "8 3 2 3", "1 4", "10 4", "4 2"]; // curves are told apart without colours too

// Bars of probabilities, largest first where there are many levels. counts: those of the data beside them.
function shareBars(host, levels, shares, most = 12, more = null) {
  const places = [...levels.keys()];
  const many = levels.length > most + 1;
  if (many) places.sort((a, b) => shares[b] - shares[a] || a - b);
  const shown = places.slice(0, many ? most : levels.length);
  const list = el("ul", { class: "bars" });
  for (const i of shown) {
    list.append(el("li", {},
      el("span", { class: "bar-name", title: levels[i] }, cutWord(levels[i], 24)),
      el("span", { class: "bar-track" }, el("span", { class: "bar-fill", style: { width: `${100 * shares[i]}%` } }),
        more ? el("span", { class: "bar-mark", style: { left: `${100 * more[i]}%` } }) : null),
      el("span", { class: "bar-value" }, percent(shares[i]))));
  }
  host.append(list);
  if (many) {
    const rest = places.slice(most).reduce((sum, i) => sum + shares[i], 0);
    host.append(el("p", { class: "small" }, `and ${counted(levels.length - most, "more level")} with ${percent(rest)} together`));
  }
  return list;
}

// The frame of a chart: sizes, scales and a horizontal axis with its name.
function frame(options) {
  const { width = 340, height = 150, x, y, label, words, yLabel } = options;
  const left = yLabel ? 44 : 8, right = 10, top = yLabel ? 20 : 8, bottom = label ? 34 : 20;
  const sx = (value) => left + ((value - x[0]) / (x[1] - x[0] || 1)) * (width - left - right);
  const sy = (value) => height - bottom - ((value - y[0]) / (y[1] - y[0] || 1)) * (height - top - bottom);
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": words });
  root.append(svg("line", { x1: left, x2: width - right, y1: height - bottom, y2: height - bottom, class: "axis" }));
  for (const tick of ticks(x[0], x[1], Math.max(3, Math.floor(width / 58)))) {
    root.append(svg("line", { x1: sx(tick), x2: sx(tick), y1: height - bottom, y2: height - bottom + 4, class: "axis" }),
      tickLabel(sx(tick), height - bottom + 16, tickText(tick, x), width));
  }
  if (label) root.append(svg("text", { x: (left + width - right) / 2, y: height - 3, class: "axis-name", "text-anchor": "middle" }, cutWord(label, 44)));
  if (yLabel) {
    root.append(svg("text", { x: 2, y: 11, class: "axis-name" }, cutWord(yLabel, 40)));
    for (const tick of ticks(y[0], y[1], 4)) {
      root.append(svg("line", { x1: left - 4, x2: left, y1: sy(tick), y2: sy(tick), class: "axis" }),
        svg("text", { x: left - 6, y: sy(tick) + 4, class: "tick", "text-anchor": "end" }, tickText(tick, y)));
    }
  }
  return { root, sx, sy, left, right: width - right, bottom: height - bottom, top };
}

// Below the axis, and all of it in the chart.
function tickLabel(x, y, text, width) {
  const half = text.length * 3.2;
  return svg("text", { x: clip(x, half, width - half), y, class: "tick", "text-anchor": "middle" }, text);
}

// Round numbers between two ends.
function ticks(low, high, wanted) {
  const raw = (high - low) / Math.max(wanted, 1);
  if (!(raw > 0) || !Number.isFinite(raw)) return [low];
  const power = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = [1, 2, 5, 10].map((k) => k * power).find((own) => own >= raw);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9 && found.length < 20; k++) found.push(k * step);
  return found;
}

function tickText(value, ends) {
  return short(value, { range: ends });
}

function path(points, sx, sy) {
  return points.map(([x, y], i) => `${i ? "L" : "M"}${sx(x).toFixed(1)} ${sy(y).toFixed(1)}`).join("");
}

// Bars of a histogram [low, high] with densities, and curves over it.
function histogram(options) {
  const { column, bars, low, high, curves = [], marks = [], words, width, height } = options;
  const tops = [...(bars || []), ...curves.flatMap((curve) => curve.points.map((point) => point[1]))].filter(Number.isFinite);
  const top = options.top || Math.max(...tops, 1e-300);
  const ends = options.ends || [low, high];
  const { root, sx, sy, bottom } = frame({ width, height, x: ends, y: [0, top * 1.05], label: options.label, words });
  const step = bars ? (high - low) / bars.length : 0;
  (bars || []).forEach((value, i) => {
    const x = sx(low + i * step), y = sy(Math.min(value, top));
    root.append(svg("rect", { x, y, width: Math.max(sx(low + (i + 1) * step) - x - 0.6, 0.5), height: Math.max(bottom - y, 0), class: "hist" }));
  });
  curves.forEach((curve, k) => {
    const points = curve.points.filter(([x]) => x >= ends[0] && x <= ends[1]).map(([x, y]) => [x, Math.min(y, top * 1.05)]);
    root.append(svg("path", { d: path(points, sx, sy), class: "curve", stroke: curve.ink || INKS[1], "stroke-dasharray": DASHES[k] }));
  });
  for (const mark of marks) root.append(svg("line", { x1: sx(mark), x2: sx(mark), y1: 8, y2: bottom, class: "mark" }));
  return root;
}

// What a leaf says of a continuous column: its density, and the histogram of its rows.
function leafDensity(host, column, at, bars, top, width = 206, height = 84) {
  const usual = binRange(column), beyond = at.location < usual[0] || at.location > usual[1];
  const [low, high] = beyond ? [Math.min(usual[0], at.location - 3 * at.scale), Math.max(usual[1], at.location + 3 * at.scale)] : usual;
  const points = grid([low, high], 120).map((x) => [x, Math.exp(logDensity(at, x))]);
  const peak = Math.exp(logDensity(at, at.location));
  host.append(histogram({
    column, bars, low: viewOf(column)[0], high: viewOf(column)[1], ends: [low, high], width, height,
    top: top ? Math.max(top, peak) : undefined, curves: [{ points }],
    words: `Mean ${rough(at.location, column)}, spread ${rough(at.scale, column)}`,
  }));
  host.append(el("p", { class: "small" }, `mean ${withSpread(at.location, at.scale, column, 2)}`));
}

// A table of probabilities whose cells are shaded; rows: {words, shares, rows}.
function heatTable(host, { caption, parents, levels, rows }) {
  const LEVELS = 12, ROWS = 60;
  const shown = [...levels.keys()].slice(0, LEVELS), more = levels.length - shown.length;
  const counts = rows.some((row) => row.rows !== null && row.rows !== undefined);
  const heads = [...parents, ...shown.map((i) => cutWord(levels[i], 18)), ...(more > 0 ? [`${more} more`] : []), ...(counts ? ["rows"] : [])];
  const body = el("tbody");
  const cell = (share) => el("td", { class: "heat", style: { "--share": share } }, percent(share));
  const line = (row) => el("tr", {},
    row.words.map((word) => el("th", { scope: "row" }, cutWord(word, 24))),
    shown.map((i) => cell(row.shares[i])),
    more > 0 ? cell(row.shares.slice(LEVELS).reduce((sum, share) => sum + share, 0)) : null,
    counts ? el("td", { class: "number" }, row.rows === null || row.rows === undefined ? "" : short(row.rows)) : null);
  body.append(...rows.slice(0, ROWS).map(line));
  host.append(el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el("table", { class: "heat-table" }, el("caption", {}, caption),
      el("thead", {}, el("tr", {}, heads.map((head, i) => el("th", { scope: "col", class: i < parents.length ? null : "number" }, head)))), body)));
  if (rows.length > ROWS) {
    const next = el("button", { type: "button", class: "plain", onclick: () => {
      body.append(...rows.slice(ROWS, 2000).map(line));
      next.remove();
    } }, `Show ${counted(Math.min(rows.length, 2000) - ROWS, "more row")}`);
    host.append(next);
  }
}

const MOST_LINES = 6; // of equations that are shown unasked

function equationList(host, text, term = "equations") {
  const lines = text.split("\n").slice(1);
  const shown = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Equations" }, el("pre", { class: "equations" }, lines.map((line) => line.trimStart()).join("\n")));
  if (lines.length > MOST_LINES) {
    host.append(el("details", {}, el("summary", {}, `In ${counted(lines.length, "equation")}`), shown));
    return;
  }
  host.append(el("h4", {}, lines.length > 1 ? "In equations" : "As an equation", " ", help(term, "equations")), shown);
}

// What happens to the child when one parent moves and the others stay at usual values: a chart per parent; where the
// model says that a continuous parent acts together with another, one for each of some values of that other.
function effectCurves(host, node, model, net) {
  const usual = net.columns.map((column, i) => usualValue(net, i));
  const charts = el("div", { class: "charts" });
  const child = cutWord(net.columns[node.child].name, 30);
  for (const parent of node.parents) {
    const column = net.columns[parent];
    const values = column.levels ? [...column.levels.keys()].slice(0, 12) : grid(viewOf(column), 60);
    const partner = column.levels || !model.own.partner ? undefined : model.own.partner(parent);
    for (const fixed of partner === undefined ? [null] : usualValues(net, partner)) {
      const answers = values.map((value) => {
        const row = usual.slice();
        if (fixed !== null) row[partner] = fixed;
        row[parent] = value;
        return model.discrete ? Array.from(model.shares(row)) : { ...model.own.spread(row) };
      });
      const where = fixed === null ? "" : `, where ${cutWord(net.columns[partner].name, 24)} is ${valueText(net.columns[partner], fixed)}`;
      charts.append(el("figure", {}, effectChart(net, node, parent, values, answers, fixed === null),
        el("figcaption", {}, `${child} when ${cutWord(column.name, 30)} changes${where}`)));
    }
  }
  if (node.parents.length) {
    host.append(charts, node.parents.length > 1 ? el("p", { class: "small" }, "Each chart moves one parent; the others stay at their most frequent level or their middle value.") : "");
  }
}

function valueText(column, value) {
  return column.levels ? cutWord(column.levels[value], 24) : short(value, column);
}

// The most frequent levels in their order, or the quartiles.
function usualValues(net, i) {
  const { levels, counts, quartiles } = net.columns[i];
  if (!levels) return quartiles ? [...new Set(quartiles)] : [usualValue(net, i)];
  const places = [...levels.keys()].sort((a, b) => (counts ? counts[b] - counts[a] : 0) || a - b);
  return places.slice(0, 3).sort((a, b) => a - b);
}

function grid([low, high], steps) {
  return Array.from({ length: steps + 1 }, (_, k) => low + ((high - low) * k) / steps);
}

// The most frequent level, the median, or the middle of the range.
function usualValue(net, i) {
  const column = net.columns[i];
  if (column.levels) return column.counts ? column.counts.indexOf(Math.max(...column.counts)) : 0;
  return column.quartiles ? column.quartiles[1] : (column.range[0] + column.range[1]) / 2;
}

// behind: whether the rows of the data are drawn, too.
function effectChart(net, node, parent, values, answers, behind) {
  const column = net.columns[parent], child = net.columns[node.child];
  const xs = column.levels ? [-0.5, values.length - 0.5] : viewOf(column);
  const counts = behind && node.behind && !column.levels ? node.behind[parent] : undefined;
  if (child.levels) return levelEffect(net, node, parent, values, answers, xs, counts);
  const bands = answers.map((at) => [at.location - at.scale, at.location + at.scale]);
  const ys = [Math.min(viewOf(child)[0], ...bands.map((band) => band[0])), Math.max(viewOf(child)[1], ...bands.map((band) => band[1]))];
  const words = `${child.name} goes from ${short(answers[0].location, child)} to ${short(answers[answers.length - 1].location, child)}`;
  const { root, sx, sy } = frame({ width: 340, height: 220, x: xs, y: ys, label: column.levels ? "" : column.name, words, yLabel: child.name });
  if (counts) behindGrid(root, counts, column, child, sx, sy);
  if (column.levels) {
    levelTicks(root, column, values, sx);
    values.forEach((value, i) => root.append(
      svg("line", { x1: sx(value), x2: sx(value), y1: sy(bands[i][0]), y2: sy(bands[i][1]), class: "whisker" }),
      svg("circle", { cx: sx(value), cy: sy(answers[i].location), r: 4, class: "dot" })));
    return root;
  }
  const upper = values.map((value, i) => [value, bands[i][1]]), lower = values.map((value, i) => [value, bands[i][0]]).reverse();
  root.append(svg("path", { d: `${path([...upper, ...lower], sx, sy)}Z`, class: "band" }),
    svg("path", { d: path(values.map((value, i) => [value, answers[i].location]), sx, sy), class: "curve", stroke: INKS[0] }));
  return root;
}

// Probabilities of the child's levels as curves, or as points where the parent has levels.
function levelEffect(net, node, parent, values, answers, xs, counts) {
  const column = net.columns[parent], child = net.columns[node.child];
  const order = [...child.levels.keys()].sort((a, b) => Math.max(...answers.map((own) => own[b])) - Math.max(...answers.map((own) => own[a]))).slice(0, 7);
  const { root, sx, sy } = frame({ width: 340, height: 220, x: xs, y: [0, 1], label: column.levels ? "" : column.name,
    words: `Probabilities of the levels of ${child.name}`, yLabel: "probability" });
  if (column.levels) levelTicks(root, column, values, sx);
  order.forEach((level, k) => {
    if (counts) behindShares(root, counts, level, column, sx, sy, INKS[k]);
    root.append(svg("path", { d: path(values.map((value, i) => [value, answers[i][level]]), sx, sy), class: "curve", stroke: INKS[k], "stroke-dasharray": DASHES[k] }));
    if (column.levels) values.forEach((value, i) => root.append(svg("circle", { cx: sx(value), cy: sy(answers[i][level]), r: 3, fill: INKS[k] })));
  });
  const list = el("ul", { class: "legend" }, order.map((level, k) => el("li", {},
    svg("svg", { width: 26, height: 8, "aria-hidden": "true" }, svg("line", { x1: 0, x2: 26, y1: 4, y2: 4, class: "curve", stroke: INKS[k], "stroke-dasharray": DASHES[k] })),
    " ", cutWord(child.levels[level], 20))));
  return el("div", {}, root, list);
}

function levelTicks(root, column, values, sx) {
  root.querySelectorAll(".tick").forEach((tick) => tick.getAttribute("text-anchor") === "middle" && tick.remove());
  values.forEach((value) => root.append(svg("text", { x: sx(value), y: 216, class: "tick", "text-anchor": "middle" }, cutWord(column.levels[value], Math.max(3, Math.floor(46 / values.length))))));
}

// What part of the rows had this level: a dot per interval of the parent, larger for more rows.
function behindShares(root, counts, level, column, sx, sy, ink) {
  const totals = counts.map((own) => own.reduce((a, b) => a + b, 0)), most = Math.max(...totals, 1);
  counts.forEach((own, i) => {
    if (!totals[i]) return;
    const [low, high] = viewOf(column), x = low + ((high - low) * (i + 0.5)) / counts.length;
    root.append(svg("circle", { cx: sx(x), cy: sy(own[level] / totals[i]), r: 1.5 + 4 * Math.sqrt(totals[i] / most), fill: ink, "fill-opacity": 0.35 }));
  });
}

// How many rows of the data lie where: squares, darker for more.
function behindGrid(root, counts, column, child, sx, sy) {
  const most = Math.max(...counts.flat(), 1), across = counts.length, up = counts[0].length;
  const within = ([low, high], share) => low + (high - low) * share;
  const x = (i) => sx(within(viewOf(column), i / across)), y = (j) => sy(within(viewOf(child), j / up));
  counts.forEach((own, i) => own.forEach((count, j) => {
    if (!count) return;
    root.append(svg("rect", { x: x(i), y: y(j + 1), width: x(i + 1) - x(i), height: y(j) - y(j + 1), class: "behind", "fill-opacity": 0.08 + 0.5 * Math.sqrt(count / most) }));
  }));
}
