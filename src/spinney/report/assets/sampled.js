// Sampled answers in any network: likelihood weighting. Rows are drawn, parents first; a column that is known keeps its
// value, and the row counts by how probable that value is given its parents. A column that is set by hand keeps its
// value, whatever its parents, and counts nothing. Every number comes with its error.

const BINS = 48; // of a continuous column's histogram
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
      const discrete = net.levels(i);
      const [low, high] = discrete ? [0, 0] : binRange(column);
      const width = discrete || BINS + 2; // below, in the bins, above
      return {
        low,
        step: (high - low) / BINS,
        middle: (low + high) / 2,
        first: new Float64Array(width), // sums of weights
        second: new Float64Array(width), // and of their squares
        moments: new Float64Array(4), // of a continuous column: w x, w x^2, w^2 x, w^2 x^2
      };
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
      let bin = x;
      if (own.step) {
        bin = clip(Math.floor((x - own.low) / own.step) + 1, 0, BINS + 1);
        const away = x - own.middle, moments = own.moments;
        moments[0] += w * away;
        moments[1] += w * away * away;
        moments[2] += w2 * away;
        moments[3] += w2 * away * away;
      }
      own.first[bin] += w;
      own.second[bin] += w2;
    }
  }

  rescale(log) {
    const factor = Math.exp(this.largest - log), factor2 = factor * factor;
    this.largest = log;
    this.weight *= factor;
    this.squares *= factor2;
    for (const own of this.sums) {
      own.first.forEach((value, i) => (own.first[i] = value * factor));
      own.second.forEach((value, i) => (own.second[i] = value * factor2));
      own.moments.forEach((value, i) => (own.moments[i] = value * (i < 2 ? factor : factor2)));
    }
  }

  // As many rows that all count the same would say as much.
  get effective() {
    return this.squares > 0 ? (this.weight * this.weight) / this.squares : 0;
  }

  // Per node: shares with their errors; of a continuous one its histogram, mean and quantiles.
  results() {
    return this.sums.map((own, i) => (this.net.levels(i) ? this.levels(own) : this.numbers(own)));
  }

  levels(own) {
    const shares = own.first.map((sum) => sum / this.weight);
    return { shares, errors: shares.map((share, i) => this.error(share, own.second[i])) };
  }

  // Half of the 99.9 % range; an event that never came is not impossible for that.
  error(share, squares) {
    const spread = squares * (1 - share) ** 2 + (this.squares - squares) * share ** 2;
    const unseen = SURE / 2 / this.effective;
    return SURE * Math.sqrt(spread / this.weight ** 2 + unseen * unseen);
  }

  numbers(own) {
    const [one, two, square, cube] = own.moments, mean = one / this.weight;
    const left = cube - 2 * mean * square + mean * mean * this.squares;
    return {
      bins: own.first.map((sum) => sum / this.weight),
      low: own.low,
      step: own.step,
      mean: own.middle + mean,
      error: (SURE * Math.sqrt(Math.max(left, 0))) / this.weight,
      deviation: Math.sqrt(Math.max(two / this.weight - mean * mean, 0)),
      quantiles: [0.05, 0.5, 0.95].map((share) => quantile(own, share * this.weight)),
    };
  }
}

function quantile(own, wanted) {
  let sum = 0;
  for (let bin = 0; bin < own.first.length; bin++) {
    if (sum + own.first[bin] >= wanted && own.first[bin] > 0) {
      return own.low + own.step * (bin - 1 + (wanted - sum) / own.first[bin]);
    }
    sum += own.first[bin];
  }
  return own.low + own.step * BINS;
}

// Where a continuous column is drawn: its range, and some room beside it.
function binRange(column) {
  const [low, high] = column.range, room = (high - low) * 0.12 || Math.abs(low) * 0.1 || 1;
  return [low - room, high + room];
}
