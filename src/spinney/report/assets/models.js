// Local models: what the page computes with.
//
// A type of model is one call of addModel(word, {make, picture}), in a file model_*.js of its own:
//   make(node, net) gives an object with, for a discrete child, one of
//       place(row) and matrix      the number of the row's distribution in a flat matrix of all of them
//       logShares(row)             the logs of the levels' probabilities
//   and for a continuous child
//       spread(row)                {location, scale, freedom} in the user's units; freedom Infinity: a normal
//   and may have rows(row), how many rows of the data that answer rests on, or partner(parent), the parent that a continuous one acts together with, for the charts
//   picture(host, node, model, net) draws it into an element of the page (helpers: charts.js).
// A row is an array with, per column of the network, the code of its level or its value. A type that is not here is
// shown by its text.

const MODELS = new Map();

function addModel(word, own) {
  MODELS.set(word, own);
}

class Model {
  constructor(node, own, levels) {
    Object.assign(this, { node, own, child: node.child, levels });
    this.cumulated = null;
  }

  get discrete() {
    return this.levels > 0;
  }

  // Of a discrete child: the probabilities of its levels.
  shares(row) {
    const own = this.own;
    if (own.logShares) return Float64Array.from(own.logShares(row), Math.exp);
    const from = own.place(row) * this.levels;
    return own.matrix.subarray(from, from + this.levels);
  }

  logProb(row) {
    const own = this.own, value = row[this.child];
    if (own.spread) return logDensity(own.spread(row), value);
    if (own.logShares) return own.logShares(row)[value];
    return Math.log(own.matrix[own.place(row) * this.levels + value]);
  }

  draw(row, random) {
    const own = this.own, width = this.levels;
    if (own.spread) return drawFrom(own.spread(row), random);
    if (own.logShares) return pick(cumulate(this.shares(row), width), 0, width, random.uniform());
    if (!this.cumulated) this.cumulated = cumulate(own.matrix, width);
    return pick(this.cumulated, own.place(row) * width, width, random.uniform());
  }
}

function cumulate(matrix, width) {
  const sums = Float64Array.from(matrix);
  for (let i = 0; i < sums.length; i++) if (i % width) sums[i] += sums[i - 1];
  return sums;
}

// The place of a row's cell of discrete parents among those that are stored, or `otherwise`. Codes are numbers of mixed
// radix, the last parent fastest; those beyond 2^53 come as texts, and are BigInts here.
function cellFinder(parents, sizes, stored, otherwise) {
  const large = stored !== null && stored.some((code) => typeof code === "string");
  const places = stored === null ? null : new Map(stored.map((code, i) => [large ? BigInt(code) : code, i]));
  return (row) => {
    let code = large ? 0n : 0;
    for (let i = 0; i < parents.length; i++) {
      code = large ? code * BigInt(sizes[i]) + BigInt(row[parents[i]]) : code * sizes[i] + row[parents[i]];
    }
    if (places === null) return code;
    const place = places.get(code);
    return place === undefined ? otherwise : place;
  };
}

function flat(rows) {
  const width = rows.length ? rows[0].length : 0;
  const found = new Float64Array(rows.length * width);
  rows.forEach((own, i) => found.set(own, i * width));
  return found;
}

// The network of the page: columns, nodes with their models, an order in which parents come first.
class Net {
  constructor(page) {
    this.columns = page.columns;
    this.nodes = page.nodes;
    this.numbers = new Map(page.columns.map((column, i) => [column.name, i]));
    this.children = page.columns.map(() => []);
    this.nodes.forEach((node, i) => {
      node.child = i;
      for (const parent of node.parents) this.children[parent].push(i);
    });
    this.order = this.sorted();
    this.models = this.nodes.map((node) => {
      const type = MODELS.get(node.model);
      return type ? new Model(node, type.make(node, this), this.levels(node.child)) : null;
    });
  }

  levels(i) {
    const own = this.columns[i].levels;
    return own ? own.length : 0;
  }

  // The nodes whose models the page cannot compute with.
  get foreign() {
    return this.nodes.filter((node, i) => !this.models[i]);
  }

  // Discrete and continuous parents of a node, each in their order.
  split(node) {
    return [node.parents.filter((p) => this.levels(p)), node.parents.filter((p) => !this.levels(p))];
  }

  sizes(parents) {
    return parents.map((p) => this.levels(p));
  }

  sorted() {
    const waiting = this.nodes.map((node) => node.parents.length);
    const order = waiting.flatMap((count, i) => (count ? [] : [i]));
    for (let at = 0; at < order.length; at++) {
      for (const child of this.children[order[at]]) if (--waiting[child] === 0) order.push(child);
    }
    return order;
  }

  // Parents, children and the other parents of the children.
  blanket(i) {
    const found = new Set([...this.nodes[i].parents, ...this.children[i]]);
    for (const child of this.children[i]) for (const parent of this.nodes[child].parents) found.add(parent);
    found.delete(i);
    return [...found].sort((a, b) => a - b);
  }

  logProb(row) {
    let total = 0;
    for (const model of this.models) total += model.logProb(row);
    return total;
  }
}
