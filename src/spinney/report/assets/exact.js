// Exact answers in a network of discrete columns whose cliques are small: sum-product over a tree of cliques.
//
// The moral graph is triangulated once by taking away, again and again, the node whose clique has the fewest joint
// levels. Setting a node by hand removes edges only, so the same cliques serve.

const MOST_JOINT = 2 ** 21; // joint levels in all cliques together

class Cliques {
  // null where a column is continuous, a model is not known to the page, or the cliques are too large
  static of(net) {
    if (net.foreign.length || net.columns.some((column) => !column.levels)) return null;
    const order = eliminated(net);
    return order && new Cliques(net, order);
  }

  constructor(net, order) {
    this.net = net;
    const turn = [];
    order.forEach((step, i) => (turn[step.node] = i));
    this.steps = order.map(({ node, around }) => {
      const members = [node, ...around], sizes = net.sizes(members);
      const joint = sizes.reduce((all, size) => all * size, 1);
      const up = around.length ? Math.min(...around.map((other) => turn[other])) : -1;
      return { node, around, members, sizes, joint, up, factors: [], own: null, parent: null };
    });
    for (const step of this.steps) {
      step.own = placesIn(step, step.around, net);
      if (step.up >= 0) step.parent = placesIn(this.steps[step.up], step.around, net);
    }
    net.nodes.forEach((node, i) => {
      const family = [...node.parents, i];
      const step = this.steps[Math.min(...family.map((member) => turn[member]))];
      step.factors.push({ node: i, values: familyTable(net, family), places: placesIn(step, family, net) });
    });
  }

  // Per node the probabilities of its levels; null where what is given cannot happen. evidence and set: node -> code.
  answer(evidence, set) {
    const beliefs = this.steps.map((step) => this.potential(step, evidence, set));
    const messages = [];
    for (let i = 0; i < this.steps.length; i++) {
      const step = this.steps[i];
      const message = summed(beliefs[i], step.own.places, step.own.count);
      const most = message.reduce((a, b) => Math.max(a, b), 0);
      if (!(most > 0)) return null;
      for (let k = 0; k < message.length; k++) message[k] /= most; // small numbers stay numbers
      messages.push(message);
      if (step.up >= 0) {
        const above = beliefs[step.up];
        for (let k = 0; k < above.length; k++) above[k] *= message[step.parent.places[k]];
      }
    }
    const found = [];
    for (let i = this.steps.length - 1; i >= 0; i--) {
      const step = this.steps[i], belief = beliefs[i];
      if (step.up >= 0) {
        const outer = summed(beliefs[step.up], step.parent.places, step.parent.count);
        for (let k = 0; k < belief.length; k++) {
          const at = step.own.places[k], inner = messages[i][at];
          belief[k] = inner > 0 ? (belief[k] * outer[at]) / inner : 0;
        }
      }
      let total = 0;
      for (const value of belief) total += value;
      if (!(total > 0)) return null;
      const shares = new Float64Array(step.sizes[0]), rest = step.joint / step.sizes[0];
      for (let k = 0; k < belief.length; k++) {
        belief[k] /= total;
        shares[Math.floor(k / rest)] += belief[k];
      }
      found[step.node] = shares;
    }
    return found;
  }

  potential(step, evidence, set) {
    const values = new Float64Array(step.joint).fill(1);
    for (const { node, values: table, places } of step.factors) {
      if (set.has(node)) continue;
      for (let k = 0; k < values.length; k++) values[k] *= table[places.places[k]];
    }
    const given = set.has(step.node) ? set.get(step.node) : evidence.get(step.node);
    if (given !== undefined) {
      const rest = step.joint / step.sizes[0];
      for (let k = 0; k < values.length; k++) if (Math.floor(k / rest) !== given) values[k] = 0;
    }
    return values;
  }
}

// The order in which nodes are taken away, each with those around it then; null where the cliques grow too large.
function eliminated(net) {
  const near = net.nodes.map(() => new Set());
  net.nodes.forEach((node, i) => {
    const family = [...node.parents, i];
    for (const a of family) for (const b of family) if (a !== b) near[a].add(b);
  });
  const weight = (i) => [...near[i]].reduce((all, other) => all + Math.log(net.levels(other)), Math.log(net.levels(i)));
  const weights = net.nodes.map((_, i) => weight(i)), left = new Set(net.nodes.keys()), order = [];
  let total = 0;
  while (left.size) {
    let best = -1;
    for (const i of left) if (best < 0 || weights[i] < weights[best]) best = i;
    total += Math.exp(weights[best]);
    if (total > MOST_JOINT) return null;
    const around = [...near[best]];
    left.delete(best);
    for (const a of around) {
      near[a].delete(best);
      for (const b of around) if (a !== b) near[a].add(b);
    }
    for (const a of around) weights[a] = weight(a);
    order.push({ node: best, around });
  }
  return order;
}

// For every joint level of a clique, its place in the table over some of its members (the last varies fastest).
function placesIn(step, members, net) {
  const strides = new Map();
  let count = 1;
  for (let i = members.length - 1; i >= 0; i--) {
    strides.set(members[i], count);
    count *= net.levels(members[i]);
  }
  const places = new Int32Array(step.joint);
  let repeat = step.joint;
  step.members.forEach((member, i) => {
    const size = step.sizes[i], stride = strides.get(member) || 0;
    repeat /= size;
    if (stride) for (let k = 0; k < places.length; k++) places[k] += (Math.floor(k / repeat) % size) * stride;
  });
  return { places, count };
}

function familyTable(net, family) {
  const sizes = net.sizes(family), child = family[family.length - 1], width = sizes[sizes.length - 1];
  const count = sizes.reduce((all, size) => all * size, 1), values = new Float64Array(count);
  const row = new Array(net.nodes.length).fill(0);
  for (let k = 0; k < count; k += width) {
    let code = k / width;
    for (let i = family.length - 2; i >= 0; i--) {
      row[family[i]] = code % sizes[i];
      code = Math.floor(code / sizes[i]);
    }
    values.set(net.models[child].shares(row), k);
  }
  return values;
}

function summed(values, places, count) {
  const sums = new Float64Array(count);
  for (let k = 0; k < values.length; k++) sums[places[k]] += values[k];
  return sums;
}
