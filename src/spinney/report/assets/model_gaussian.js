// Gaussian models: a regression per cell, Bayes' rule over a Gaussian per level, the Student regression of bge.

// (value - centre) / scale; the difference itself may be too large for a number.
function standardised(value, centre, scale) {
  return clip((value / 2 - centre / 2) / scale * 2, -1e150, 1e150);
}

addModel("regression", {
  make(node, net) {
    const [discrete, continuous] = net.split(node);
    const find = cellFinder(discrete, net.sizes(discrete), node.cells, node.cells.length);
    return {
      spread(row) {
        const cell = find(row), means = node.means[cell], slopes = node.slopes[cell];
        let location = means[0];
        continuous.forEach((p, i) => {
          location = clip(location + clip(slopes[i] * (row[p] - means[i + 1]), -LARGEST, LARGEST), -LARGEST, LARGEST);
        });
        return { location, scale: node.deviations[cell], freedom: Infinity };
      },
    };
  },
  picture: equationsAndCurves,
});

addModel("gaussian-bayes", {
  make(node, net) {
    const discrete = net.split(node)[0], used = node.used.map((name) => net.numbers.get(name));
    const find = cellFinder(discrete, net.sizes(discrete), node.cells, node.cells.length);
    const levels = net.levels(node.child), k = used.length;
    const logs = new Float64Array(levels), x = new Float64Array(k), z = new Float64Array(k);
    return {
      logShares(row) {
        const cell = find(row);
        used.forEach((p, i) => (x[i] = standardised(row[p], node.shifts[i], node.scales[i])));
        for (let level = 0; level < levels; level++) {
          const share = node.shares[cell][level];
          logs[level] = share > 0 ? Math.log(share) + gaussian(node, cell, level, x, z) : -Infinity;
        }
        let largest = -Infinity, total = 0;
        for (const log of logs) largest = Math.max(largest, log);
        for (let level = 0; level < levels; level++) total += Math.exp((logs[level] -= largest));
        for (let level = 0; level < levels; level++) logs[level] = Math.min(logs[level] - Math.log(total), 0);
        return logs;
      },
    };
  },
  picture: equationsAndCurves,
});

// The log-density at x without the powers of 2 pi, by forward substitution with the Cholesky factor.
function gaussian(node, cell, level, x, z) {
  const factor = node.factors[cell][level], mean = node.means[cell][level];
  let total = 0, size = 0;
  for (let j = 0; j < x.length; j++) {
    let left = x[j] - mean[j];
    for (let i = 0; i < j; i++) left -= z[i] * factor[j][i];
    z[j] = clip(left / factor[j][j], -1e150, 1e150);
    total += z[j] * z[j];
    size += Math.log(factor[j][j]);
  }
  return -Math.min(total, 1e300) / 2 - size;
}

addModel("student-regression", {
  make(node) {
    const k = node.parents.length, x = new Float64Array(k);
    return {
      spread(row) {
        let location = node.location[0], away = 0;
        node.parents.forEach((p, i) => {
          x[i] = clip(standardised(row[p], node.shifts[i + 1], node.scales[i + 1]), -1e100, 1e100);
          x[i] -= node.location[i + 1];
        });
        for (let i = 0; i < k; i++) {
          location += x[i] * node.slopes[i];
          for (let j = 0; j < k; j++) away += x[i] * node.precision[i][j] * x[j];
        }
        const scale = node.scale * Math.sqrt((node.freedom + Math.max(away, 0)) / (node.freedom + k));
        return moved({ location, scale, freedom: node.freedom + k }, node.shifts[0], node.scales[0]);
      },
    };
  },
  picture: equationsAndCurves,
});

function equationsAndCurves(host, node, model, net) {
  effectCurves(host, node, model, net);
  equationList(host, node.text);
}
