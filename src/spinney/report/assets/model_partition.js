// Decision trees and decision graphs: a row walks from node 0 to a leaf. Leaves may hold a linear regression.

function leafFinder(node, net) {
  const sides = node.goes_left.map((codes, at) => {
    if (codes === null) return null;
    const left = new Uint8Array(net.levels(node.parents[node.feature[at]]));
    for (const code of codes) left[code] = 1;
    return left;
  });
  return (row) => {
    let at = 0;
    while (node.feature[at] >= 0) {
      const value = row[node.parents[node.feature[at]]];
      const left = sides[at] ? sides[at][value] : value < node.threshold[at];
      at = left ? node.left[at] : node.right[at];
    }
    return node.leaf[at];
  };
}

function regressionSpread(node, net, leafOf) {
  const parents = net.split(node)[1], own = node.regressions;
  const x = new Float64Array(parents.length);
  return (row) => {
    const leaf = leafOf(row);
    parents.forEach((p, j) => {
      const standard = clip((row[p] / 2 - node.x_shift[j] / 2) / node.x_scale[j] * 2, -1e140, 1e140);
      x[j] = standard - own.pivot[leaf][j];
    });
    let location = own.location[leaf], wide = 0;
    for (let i = 0; i < x.length; i++) {
      location += x[i] * own.slopes[leaf][i];
      for (let j = 0; j < x.length; j++) wide += x[i] * own.spread[leaf][i][j] * x[j];
    }
    const freedom = own.freedom[leaf];
    const scale = Math.sqrt((own.scatter[leaf] / freedom) * (1 + own.base[leaf] + Math.max(wide, 0)));
    return moved({ location, scale, freedom }, node.shift, node.scale);
  };
}

function makePartition(node, net) {
  const leafOf = leafFinder(node, net);
  const rows = (row) => node.rows[leafOf(row)];
  if (node.probabilities) return { matrix: flat(node.probabilities), place: leafOf, leafOf, rows };
  if (node.regressions) return { spread: regressionSpread(node, net, leafOf), leafOf, rows };
  const [location, scale, freedom] = node.student;
  const leaves = location.map((_, i) => ({ location: location[i], scale: scale[i], freedom: freedom[i] }));
  return { spread: (row) => leaves[leafOf(row)], leafOf, leaves, rows };
}

// The levels of a discrete parent that can still reach each node, so that questions name no others.
function reachable(node, net) {
  const order = [0], waiting = new Map();
  node.left.concat(node.right).forEach((below) => below >= 0 && waiting.set(below, (waiting.get(below) || 0) + 1));
  const reach = node.feature.map(() => node.parents.map((p) => new Set()));
  node.parents.forEach((p, j) => {
    for (let code = 0; code < net.levels(p); code++) reach[0][j].add(code);
  });
  for (let i = 0; i < order.length; i++) {
    const at = order[i], feature = node.feature[at];
    if (feature < 0) continue;
    [node.left[at], node.right[at]].forEach((below, right) => {
      node.parents.forEach((p, j) => {
        const side = j === feature && node.goes_left[at] ? new Set(node.goes_left[at]) : null;
        for (const code of reach[at][j]) if (!side || side.has(code) === !right) reach[below][j].add(code);
      });
      waiting.set(below, waiting.get(below) - 1);
      if (waiting.get(below) === 0) order.push(below);
    });
  }
  return reach;
}

// What a split asks, and the words on its two branches.
function question(node, net, at, reach) {
  const feature = node.feature[at], parent = net.columns[node.parents[feature]];
  if (node.goes_left[at] === null) {
    const cut = short(node.threshold[at], parent);
    return { name: parent.name, left: `< ${cut}`, right: `≥ ${cut}` };
  }
  const side = new Set(node.goes_left[at]);
  const named = [...reach[at][feature]].filter((code) => side.has(code)).map((code) => parent.levels[code]);
  const others = [...reach[at][feature]].filter((code) => !side.has(code)).map((code) => parent.levels[code]);
  return { name: parent.name, left: listed(named), right: listed(others) };
}

function partitionPicture(host, node, model, net) {
  const reach = reachable(node, net);
  const column = net.columns[node.child];
  const child = cutWord(column.name, 30);
  const top = node.leaf_histograms ? Math.max(...node.leaf_histograms.flat(), 1e-300) : 0;
  decisionTree(host, {
    name: column.name,
    ends: node.equations ? `Each leaf says the mean of ${child} and its spread; the bars say how far the mean moves when a parent rises by its standard deviation.` :
      node.probabilities ? `The bars in its leaves are the levels of ${child}.` : `The charts in its leaves show ${child}: bars for the data, a line for the model.`,
    alone: node.parents.length ? "The same for all rows:" : `No arrow points at ${child}, so its model is the same for all rows. What other columns say about it, the page works out under Ask.`,
    below: (at) => (node.feature[at] < 0 ? [] : [node.left[at], node.right[at]]),
    question: (at) => question(node, net, at, reach),
    rows: (at) => node.rows[node.leaf[at]],
    plot: (target, at) => {
      const leaf = node.leaf[at];
      if (node.probabilities) return shareBars(target, column.levels, node.probabilities[leaf], 5);
      if (!node.equations) return leafDensity(target, column, model.own.leaves[leaf], node.leaf_histograms && node.leaf_histograms[leaf], top);
      slopeBars(target, node, net, leaf);
    },
  });
}

// The regression of a leaf: its mean, and how far the child moves when a parent rises by one standard deviation.
function slopeBars(target, node, net, leaf) {
  const child = net.columns[node.child], slopes = node.regressions.slopes;
  const most = Math.max(...slopes.flat().map(Math.abs), 1e-300);
  // "age: 20 rows, mean 3 + 2 x, scale 1, 21 degrees of freedom"
  const found = node.equations[leaf].match(/rows?, mean (.*), scale ([^,]*), [^,]* degrees of freedom$/);
  const [equation, spread] = found ? [found[1], Number(found[2])] : [node.equations[leaf], NaN];
  target.append(el("p", { title: equation }, `mean ${withSpread(parseFloat(equation), spread, child, 2)}`),
    el("ul", { class: "bars" }, net.split(node)[1].map((p, j) => {
      const slope = slopes[leaf][j], wide = (50 * Math.abs(slope)) / most;
      return el("li", {}, el("span", { class: "bar-name", title: net.columns[p].name }, cutWord(net.columns[p].name, 16)),
        el("span", { class: "bar-track middle" }, el("span", { class: "bar-fill", style: { left: `${slope < 0 ? 50 - wide : 50}%`, width: `${wide}%` } })),
        el("span", { class: "bar-value" }, `${slope < 0 ? "−" : "+"}${twoDigits(Math.abs(slope * node.scale))}`));
    })));
}

addModel("partition", { make: makePartition, picture: partitionPicture });
addModel("linear-leaves", {
  make: makePartition,
  picture(host, node, model, net) {
    partitionPicture(host, node, model, net);
    effectCurves(host, node, model, net);
    equationList(host, ["", ...node.equations.map((text, i) => `leaf ${i + 1}: ${text}`)].join("\n"));
  },
});
