// Tables of probabilities, one row per configuration of the parents; with cut points, of continuous parents too.

function tableModel(node, net, thresholds) {
  const sizes = node.parents.map((p) => (thresholds.has(p) ? thresholds.get(p).length + 1 : net.levels(p)));
  const find = cellFinder(node.parents, sizes, node.configurations, node.probabilities.length);
  const matrix = flat([...node.probabilities, node.default]);
  const binned = new Array(net.columns.length).fill(0);
  const place = thresholds.size ? (row) => {
    for (const p of node.parents) binned[p] = thresholds.has(p) ? above(thresholds.get(p), row[p]) : row[p];
    return find(binned);
  } : find;
  return { matrix, sizes, place, rows: node.rows ? (row) => node.rows[place(row)] ?? 0 : undefined };
}

// How many of the rising thresholds a value has reached.
function above(thresholds, value) {
  let low = 0, high = thresholds.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (value < thresholds[middle]) high = middle;
    else low = middle + 1;
  }
  return low;
}

function cutPoints(node, net) {
  return new Map(Object.entries(node.thresholds).map(([name, own]) => [net.numbers.get(name), own]));
}

// The words for a parent's place in a table: its level, or its interval.
function placeWords(net, parent, thresholds, code) {
  const own = thresholds.get(parent);
  if (!own) return net.columns[parent].levels[code];
  if (!own.length) return "any";
  if (code === 0) return `< ${short(own[0])}`;
  return code === own.length ? `≥ ${short(own[code - 1])}` : `${short(own[code - 1])} to ${short(own[code])}`;
}

function tablePicture(host, node, model, net, thresholds) {
  const sizes = model.own.sizes, width = model.levels;
  const stored = node.configurations;
  const places = stored ? stored.map(Number) : node.probabilities.map((_, i) => i);
  const rows = places.map((code, i) => {
    const words = [];
    for (let j = sizes.length - 1; j >= 0; j--) {
      words.unshift(placeWords(net, node.parents[j], thresholds, code % sizes[j]));
      code = Math.floor(code / sizes[j]);
    }
    return { words, shares: model.own.matrix.subarray(i * width, (i + 1) * width), rows: node.rows && node.rows[i] };
  });
  const configurations = sizes.reduce((all, size) => all * size, 1);
  if (rows.length < configurations) {
    const rest = model.own.matrix.subarray(rows.length * width);
    rows.push({ words: sizes.map(() => "any other"), shares: rest, rows: node.rows && 0 });
  }
  heatTable(host, {
    caption: `Probability of each level of ${net.columns[node.child].name}`,
    parents: node.parents.map((p) => net.columns[p].name),
    levels: net.columns[node.child].levels,
    rows,
  });
}

addModel("table", {
  make: (node, net) => tableModel(node, net, new Map()),
  picture: (host, node, model, net) => tablePicture(host, node, model, net, new Map()),
});

addModel("cut-table", {
  make: (node, net) => tableModel(node, net, cutPoints(node, net)),
  picture: (host, node, model, net) => tablePicture(host, node, model, net, cutPoints(node, net)),
});
