// MARS: sums of products of hinges, a response for a continuous child or for each level of a discrete one.

addModel("basis", {
  make(node, net) {
    const FAR = 1e150; // products of two are numbers
    const continuous = net.split(node)[1];
    const inputs = node.columns.map(([place, level]) => {
      const p = node.parents[place], at = continuous.indexOf(p);
      if (at >= 0) return (row) => inUnits(row[p], node.shifts[at], node.scales[at]);
      return level === null ? (row) => row[p] : (row) => (row[p] === level ? 1 : 0);
    });
    const x = new Float64Array(inputs.length), basis = new Float64Array(node.terms.length);
    const out = new Float64Array(node.coefficients.length);
    const respond = (row) => {
      inputs.forEach((input, i) => (x[i] = input(row)));
      node.terms.forEach((term, t) => {
        let product = 1;
        for (const [column, direction, knot] of term) {
          const away = direction < 0 ? knot - x[column] : x[column] - knot;
          product = clip(product * clip(away, direction === 0 ? -FAR : 0, FAR), -FAR, FAR);
        }
        basis[t] = product;
      });
      node.coefficients.forEach((own, o) => {
        let total = 0;
        if (own !== null) for (let t = 0; t < own.length; t++) total += own[t] * basis[t];
        out[o] = Number.isNaN(total) ? 0 : clip(total, -FAR, FAR);
      });
      return out;
    };
    // The parent that shares a term with this one; undefined: it acts by itself.
    const partner = (parent) => {
      for (const term of node.terms) {
        const members = term.map(([column]) => node.parents[node.columns[column][0]]);
        if (members.includes(parent)) {
          const other = members.find((p) => p !== parent);
          if (other !== undefined) return other;
        }
      }
      return undefined;
    };
    if (!net.levels(node.child)) {
      const shift = node.shifts[node.shifts.length - 1], scale = node.scales[node.scales.length - 1], deviation = Math.sqrt(node.variance);
      return { partner, spread: (row) => moved({ location: respond(row)[0], scale: deviation, freedom: Infinity }, shift, scale) };
    }
    // Fitted indicators as probabilities: what is below one row's share is raised to it, as spinney/hinges.py does.
    const levels = net.levels(node.child), least = 1 / Math.max(node.rows, 2 * levels);
    return {
      partner,
      logShares(row) {
        const raised = respond(row).map((value) => clip(value, least, FAR));
        const sum = raised.reduce((all, value) => all + value, 0);
        return raised.map((value) => Math.log(value / sum));
      },
    };
  },
  picture(host, node, model, net) {
    effectCurves(host, node, model, net);
    equationList(host, node.text, "hinges");
  },
});
