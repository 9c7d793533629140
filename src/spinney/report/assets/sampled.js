// Sampled answers in any network: likelihood weighting. Rows are drawn, parents first; a column that is known keeps its
// value, and the row counts by how probable that value is given its parents. A column that is set by hand keeps its
// value, whatever its parents, and counts nothing. Every number comes with its error.

const BINS = 60; // of a continuous column's histogram
const STEPS = 2000; // of its range, for quantiles
const SURE = 3.29; // standard errors of a 99.9 % range: of many bars on a page hardly one lies outside

class Sampler {
  // evidence and set: node -> code or value
  constructor(net, evidence, set, seed) {
    Object.assign(this, { net, evidence, set });
    this.random = new Random(seed);
    this.row = new Array(net.nodes.length).fill(0);
    this.largest = -Infinity; // the log of the weight that counts 1
    this.drawn = this.weight = this.squares = 0;
    this.sums = net.columns.map((column, i) => {
      const levels = net.levels(i);
      if (levels) return { first: new Float64Array(levels), second: new Float64Array(levels) }; // weights, their squares
      return { drawn: counter(binRange(column), BINS), fine: counter(padded(column.range), STEPS) };
    });
  }

  // Draw so many rows.
  draw(count) {
    for (let i = 0; i < count; i++) this.add(this.drawRow());
    this.drawn += count;
  }

  // The log of the weight of a row that is drawn into this.row.
  drawRow() {
    let log = 0;
    for (const i of this.net.order) {
      if (this.set.has(i)) {
        this.row[i] = this.set.get(i);
      } else if (this.evidence.has(i)) {
        this.row[i] = this.evidence.get(i);
        log += this.net.models[i].logProb(this.row);
      } else {
        this.row[i] = this.net.models[i].draw(this.row, this.random);
      }
      if (log === -Infinity) return log;
    }
    return log;
  }

  add(log) {
    if (log === -Infinity) return;
    if (log > this.largest) this.rescale(log);
    const w = Math.exp(log - this.largest), w2 = w * w;
    this.weight += w;
    this.squares += w2;
    for (let i = 0; i < this.row.length; i++) {
      const own = this.sums[i], x = this.row[i];
      if (own.fine) {
        count(own.drawn, x, w);
        count(own.fine, x, w);
      } else {
        own.first[x] += w;
        own.second[x] += w2;
      }
    }
  }

  rescale(log) {
    const factor = Math.exp(this.largest - log), factor2 = factor * factor;
    this.largest = log;
    this.weight *= factor;
    this.squares *= factor2;
    for (const own of this.sums) {
      for (const sums of own.fine ? [own.drawn.weights, own.fine.weights] : [own.first]) sums.forEach((value, i) => (sums[i] = value * factor));
      if (own.second) own.second.forEach((value, i) => (own.second[i] = value * factor2));
    }
  }

  // As many rows that all count the same would say as much.
  get effective() {
    return this.squares > 0 ? (this.weight * this.weight) / this.squares : 0;
  }

  // Per node: shares with their errors; of a continuous one its histogram, median and quantiles.
  results() {
    return this.sums.map((own, i) => (this.net.levels(i) ? this.levels(own) : this.numbers(own)));
  }

  levels(own) {
    const shares = own.first.map((sum) => sum / this.weight);
    return { shares, errors: shares.map((share, i) => this.error(share, own.second[i])) };
  }

  // Half of the 99.9 % range: Wilson's (1927), as wide as its farther side, with the spread of the weighted share, and with
  // as many rows as there would be if all counted as much as the heaviest: of such a row one may have been missed. It is
  // right for few rows, too, and for a level that never came.
  error(share, squares) {
    const spread = (squares * (1 - share) ** 2 + (this.squares - squares) * share ** 2) / this.weight ** 2;
    const unit = SURE ** 2 / this.weight;
    return ((Math.abs(1 - 2 * share) * unit) / 2 + Math.sqrt(SURE ** 2 * spread + unit ** 2 / 4)) / (1 + unit);
  }

  // The middle value rather than the mean: a leaf with few rows has tails so long that it has no mean. Its error: where
  // the middle can be when the share of cases below it is not known better, and the step in which values are counted.
  numbers(own) {
    const at = (share) => quantile(own.fine, clip(share, 0, 1) * this.weight);
    const unsure = (SURE * Math.sqrt(this.squares)) / this.weight / 2;
    return {
      bins: own.drawn.weights.map((sum) => sum / this.weight),
      low: own.drawn.low,
      step: own.drawn.step,
      median: at(0.5),
      error: Math.max(at(0.5 + unsure) - at(0.5), at(0.5) - at(0.5 - unsure)) + own.fine.step,
      quantiles: [at(0.05), at(0.95)],
    };
  }
}

// Weights of values: below, in so many steps of the range, above.
function counter([low, high], steps) {
  return { low, step: (high - low) / steps, weights: new Float64Array(steps + 2) };
}

function count(own, x, w) {
  own.weights[clip(Math.floor((x - own.low) / own.step) + 1, 0, own.weights.length - 1)] += w;
}

function quantile(own, wanted) {
  const { low, step, weights } = own;
  let sum = 0;
  for (let bin = 0; bin < weights.length; bin++) {
    if (sum + weights[bin] >= wanted && weights[bin] > 0) return low + step * (bin - 1 + (wanted - sum) / weights[bin]);
    sum += weights[bin];
  }
  return low + step * (weights.length - 2);
}

// Where a continuous column is drawn: where nearly all of its rows are, and some room beside it.
function binRange(column) {
  return padded(viewOf(column));
}

function viewOf(column) {
  return column.view || column.range;
}

function padded([low, high]) {
  const room = (high - low) * 0.12 || Math.abs(low) * 0.1 || 1;
  return [low - room, high + room];
}
