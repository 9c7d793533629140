"use strict";
// The page of one column: its distribution, its model, what each parent brings, other parent sets, and a row to type in.

class NodePage {
  constructor(page, host) {
    this.page = page;
    this.title = el("h2", { id: "node-title", tabindex: "-1" }, "A column in detail");
    this.body = el("div", { class: "node-body" });
    host.append(this.title, this.chooser(), this.body);
  }

  chooser() {
    const { net } = this.page;
    this.select = el("select", { id: "node-select", onchange: () => this.page.choose(Number(this.select.value), false) },
      net.columns.map((column, i) => el("option", { value: i }, cutWord(column.name, 60))));
    return el("p", { class: "toolbar" }, el("label", { for: "node-select" }, "Column "), this.select);
  }

  show(i) {
    const { net } = this.page, node = net.nodes[i], column = net.columns[i];
    this.select.value = i;
    this.title.dataset.column = i;
    this.title.textContent = `${cutWord(column.name, 60)} in detail`;
    clear(this.body);
    const model = el("div", { class: "card wide" }, heading(3, null, this.modelTitle(node), null));
    this.body.append(this.distribution(i), this.links(i), model);
    this.picture(model, node);
    const sets = this.sets(node);
    if (sets) this.body.append(sets);
    if (net.models[i] && node.parents.length) this.body.append(this.tryRow(i));
  }

  modelTitle(node) {
    const names = node.parents.map((p) => cutWord(this.page.net.columns[p].name, 30));
    return names.length ? `How it follows from ${names.join(", ")}` : "How it is distributed: it has no parents";
  }

  picture(host, node) {
    const { net } = this.page, type = MODELS.get(node.model);
    if (type) {
      type.picture(host, node, net.models[node.child], net);
      return;
    }
    host.append(el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The model in words" }, el("pre", {}, node.text || "")),
      el("p", { class: "small" }, `The page cannot compute with a model of the type ${node.model}, so it shows it in words.`));
  }

  distribution(i) {
    const { net, facts } = this.page, column = net.columns[i];
    const card = el("div", { class: "card" }, heading(3, null, "How its values are spread", column.levels ? null : "density"), el("p", { class: "small" }, describeColumn(column)));
    if (column.levels) {
      if (!this.page.prior) this.page.afterPrior(() => this.title.dataset.column === String(i) && card.replaceWith(this.distribution(i)));
      const total = column.counts ? column.counts.reduce((a, b) => a + b, 0) : 0;
      const prior = this.page.prior && this.page.prior.nodes && this.page.prior.nodes[i];
      const shares = total ? column.counts.map((count) => count / total) : prior ? prior.shares : null;
      if (!shares) {
        card.append(el("p", { class: "small" }, "The page is still working it out."));
        return card;
      }
      shareBars(card, column.levels, shares, 12, total && prior ? prior.shares : null);
      card.append(el("p", { class: "small" }, total ? `Bars: the ${counted(total, "row")} of the data.${prior ? " Ticks: what the network says." : ""}` : "Bars: what the network says."));
      return card;
    }
    const [low, high] = column.bins || column.range, total = column.histogram ? column.histogram.reduce((a, b) => a + b, column.beyond || 0) : 0;
    const bars = total && high > low ? column.histogram.map((count) => count / total / ((high - low) / column.histogram.length)) : null;
    const curves = column.density ? [{ points: column.density[1].map((value, k, all) => [column.density[0][0] + ((column.density[0][1] - column.density[0][0]) * k) / Math.max(all.length - 1, 1), value]) }] : [];
    const ends = curves.length && high > low ? column.density[0] : binRange(column);
    card.append(histogram({ column, bars, low, high, ends, curves, label: column.name, width: 420, height: 210,
      words: `Values from ${short(column.range[0], column)} to ${short(column.range[1], column)}${column.quartiles ? `, half of them between ${rough(column.quartiles[0], column)} and ${rough(column.quartiles[2], column)}` : ""}` }));
    if (column.quartiles) card.append(el("p", { class: "small" }, `Mean ${rough(column.mean, column)}, half of the rows between ${rough(column.quartiles[0], column)} and ${rough(column.quartiles[2], column)}. Bars: the data. Line: the network.${column.beyond ? ` ${counted(column.beyond, "row")} further out ${column.beyond === 1 ? "is" : "are"} not drawn.` : ""}`));
    return card;
  }

  links(i) {
    const { net, facts } = this.page;
    const into = facts.edges.filter((edge) => edge.to === i), out = facts.edges.filter((edge) => edge.from === i);
    const card = el("div", { class: "card" }, heading(3, null, "What it is linked to", "strength"));
    const part = (title, edges, other) => {
      if (!edges.length) return;
      const most = Math.max(...edges.map((edge) => edge.strength || 0), 1e-12);
      edges.sort((a, b) => (b.strength ?? 0) - (a.strength ?? 0));
      card.append(el("h4", {}, title), el("ul", { class: "bars" }, edges.slice(0, 20).map((edge) => el("li", {},
        el("span", { class: "bar-name" }, nodeButton(this.page, edge[other])),
        el("span", { class: "bar-track" }, el("span", { class: "bar-fill", style: { width: `${(100 * Math.max(edge.strength || 0, 0)) / most}%` } })),
        el("span", { class: "bar-value" }, edge.strength === null ? "?" : fixed(edge.strength, 3))))));
      if (edges.length > 20) card.append(el("p", { class: "small" }, `and ${edges.length - 20} more`));
    };
    part(into.length > 1 ? "What each parent brings, in nats per row" : "What its parent brings, in nats per row", into, "from");
    part("What it brings to its children", out, "to");
    if (!into.length && !out.length) card.append(el("p", {}, "Nothing: once the other columns are known, it tells nothing about any of them."));
    card.append(el("p", {}, el("b", {}, "Markov blanket"), " ", help("blanket", "Markov blanket"), ": ", nodeList(this.page, net.blanket(i))));
    return card;
  }

  sets(node) {
    if (!node.sets || !node.sets.length) return null;
    const own = node.sets.find((entry) => entry.chosen);
    const names = (entry) => entry.parents.map((p) => cutWord(this.page.net.columns[p].name, 24)).join(", ") || "no parents";
    const rows = node.sets.map((entry) => [`${entry.rank}.`, entry.chosen ? el("b", {}, `${names(entry)} (this network)`) : names(entry),
      fixed(entry.score, 2), !own || entry.chosen ? "" : (entry.score >= own.score ? "+" : "") + fixed(entry.score - own.score, 2)]);
    const note = own && own.rank > 1 ? el("p", { class: "small" }, `The network does not have the best set here: with it, links would go round in a circle, or the whole would score less.${own.parents.length < node.sets[0].parents.length ? " Links that are missing here may point the other way, to its children." : ""}`) : null;
    return el("div", { class: "card" }, heading(3, null, "Other parents that it could have", "sets"),
      note, dataTable("The best parent sets; sets that a smaller one beats are left out", ["rank", "parents", "score", "difference"], rows));
  }

  // --- a row to type in -------------------------------------------------------------------------------------------------

  tryRow(i) {
    const { net } = this.page, node = net.nodes[i], model = net.models[i], column = net.columns[i];
    const row = net.columns.map((_, k) => usualValue(net, k));
    const answer = el("div", { "aria-live": "polite" });
    const fields = node.parents.map((p) => {
      const own = net.columns[p], id = `try-${p}`;
      return el("div", { class: "field" }, el("label", { for: id }, cutWord(own.name, 40)), valueField(own, id, row[p], (value) => {
        row[p] = value;
        show();
      }));
    });
    const show = () => {
      clear(answer);
      if (node.parents.some((p) => row[p] === null)) {
        answer.append(el("p", { class: "small" }, "Type a number in every field."));
        return;
      }
      const rows = model.own.rows ? model.own.rows(row) : null;
      if (rows !== null) answer.append(el("p", { class: "small" }, rows > 0 ? `From ${counted(Math.round(rows), "row")} of the data.` : "No row of the data is like this: the answer is what is usual, with a wide spread."));
      if (model.discrete) {
        shareBars(answer, column.levels, Array.from(model.shares(row)), 8);
        return;
      }
      const at = { ...model.own.spread(row) };
      leafDensity(answer, column, at, null, 0, 420, 170);
    };
    show();
    return el("div", { class: "card try" }, heading(3, null, "Type in a row"), el("div", { class: "fields" }, fields),
      el("p", { class: "small" }, `What the model of ${cutWord(column.name, 40)} says for these values of its parents:`), answer);
  }
}

// A field for a value of a column; `changed` gets its code, its number, or null for what is no number.
function valueField(column, id, value, changed) {
  if (column.levels && column.levels.length <= 200) {
    const select = el("select", { id, onchange: () => changed(Number(select.value)) }, column.levels.map((level, i) => el("option", { value: i }, cutWord(level, 60))));
    select.value = value;
    return select;
  }
  if (column.levels) {
    const field = el("input", { id, type: "text", value: column.levels[value], onchange: () => {
      const found = column.levels.indexOf(field.value);
      field.setAttribute("aria-invalid", String(found < 0));
      changed(found < 0 ? null : found);
    } });
    return field;
  }
  const field = el("input", { id, type: "number", step: "any", value: typed(value, column), oninput: () => {
    const number = Number(field.value);
    changed(field.value.trim() === "" || !Number.isFinite(number) ? null : number);
  } });
  return field;
}
