// Regressions on embedded columns (dg, bf) and on powers of the continuous parents (mvp, lr).

addModel("embedded-regression", {
  make(node, net) {
    const outputs = node.intercepts.length, out = new Float64Array(outputs);
    const embed = (row) => {
      const found = [];
      node.parents.forEach((p, place) => {
        const levels = net.levels(p);
        if (levels) {
          for (let code = 0; code < levels; code++) if (code !== node.usual[place]) found.push(row[p] === code ? 1 : 0);
          return;
        }
        const low = node.lows[place], high = node.highs[place];
        if (low === high) {
          for (let i = 0; i < node.degree; i++) found.push(0);
          return;
        }
        let x = standardised(row[p], low, high / 2 - low / 2) - 1;
        if (node.degree > 1) x = clip(x, -1, 1);
        found.push(...legendre(x, node.degree));
      });
      return found;
    };
    const respond = (row) => {
      const columns = embed(row);
      for (let o = 0; o < outputs; o++) {
        let total = 0;
        columns.forEach((value, i) => (total += clip(value - node.means[i], -LARGEST, LARGEST) * node.coefficients[i][o]));
        total += node.intercepts[o];
        out[o] = Number.isNaN(total) ? 0 : clip(total, -1e300, 1e300);
      }
      return out;
    };
    if (!net.levels(node.child)) {
      return { spread: (row) => ({ location: respond(row)[0], scale: node.deviation, freedom: Infinity }) };
    }
    return { logShares: (row) => repaired(respond(row), node.least).map(Math.log) };
  },
  picture: equationsAndCurves,
});

// Outputs of a regression of indicators as probabilities, none below `least`: as fitted/embedded.py does.
function repaired(raw, least) {
  const r = raw.length;
  let lowest = Infinity, sum = 0;
  for (let i = 0; i < r; i++) {
    raw[i] = clip(raw[i], -1e100, 1e100);
    lowest = Math.min(lowest, raw[i]);
    sum += raw[i];
  }
  if (!(lowest >= least && Math.abs(sum - 1) < 1e-9)) {
    const total = sum - r * lowest;
    for (let i = 0; i < r; i++) {
      raw[i] = least + (1 - r * least) * (total > 0 ? (raw[i] - lowest) / total : 1 / r);
    }
  }
  sum = 0;
  for (let i = 0; i < r; i++) sum += raw[i];
  for (let i = 0; i < r; i++) raw[i] /= sum;
  return raw;
}

addModel("polynomial", {
  make(node, net) {
    const [discrete, continuous] = net.split(node);
    const sizes = net.sizes(discrete);
    const codes = node.cells.map((cell) => cell.levels.reduce((code, level, i) => code * BigInt(sizes[i]) + BigInt(level), 0n));
    const find = cellFinder(discrete, sizes, codes.map((code) => (code > 2n ** 53n ? String(code) : Number(code))), -1);
    const powers = (row) => {
      const at = find(row), cell = at < 0 ? node.overall : node.cells[at], used = [];
      continuous.forEach((p, i) => {
        const [low, high, degree] = cell.powers[i];
        if (!degree) return;
        const end = Math.pow(1e150, 1 / degree), x = inUnits(row[p], node.shifts[i], node.scales[i]);
        used.push(...legendre(clip((x - low - (high - x)) / (high - low), -end, end), degree));
      });
      return [cell, used];
    };
    const response = (own, used) => (own === null ? -Infinity : used.reduce((sum, q, i) => sum + own[i + 1] * q, own[0]));
    if (!net.levels(node.child)) {
      const shift = node.shifts[node.shifts.length - 1], scale = node.scales[node.scales.length - 1];
      return {
        spread(row) {
          const [cell, used] = powers(row);
          const location = response(cell.coefficients[0], used);
          return moved({ location, scale: Math.sqrt(cell.variance), freedom: Infinity }, shift, scale);
        },
      };
    }
    return {
      logShares(row) {
        const [cell, used] = powers(row);
        return ruled(cell, cell.coefficients.map((own) => response(own, used)));
      },
    };
  },
  picture: equationsAndCurves,
});

// Fitted values as logs of probabilities, by the rule of their cell: as fitted/polynomial.py does.
function ruled(cell, fitted) {
  if (cell.rule === "softmax") {
    const total = logSumExp(fitted);
    return fitted.map((value) => value - total);
  }
  fitted = fitted.map((value) => (value === -Infinity ? 0 : value));
  if (cell.rule === "shrunk") {
    const low = 1 / cell.rows, middle = 1 / fitted.length;
    const smallest = Math.min(low, ...fitted), shrink = (low - middle) / (smallest - middle);
    fitted = fitted.map((value) => shrink * value + (1 - shrink) * middle);
    const sum = fitted.reduce((all, value) => all + value, 0);
    fitted = fitted.map((value) => value / sum);
  }
  return fitted.map(Math.log);
}

// A standardised value; of numbers so large that their difference may be none, a part is taken.
function inUnits(value, shift, scale) {
  const part = Math.abs(shift) > 2 ** 1000 || Math.abs(value) > 2 ** 1000 ? 2 ** -64 : 1;
  return clip((value * part - shift * part) / (scale * part), -LARGEST, LARGEST);
}
