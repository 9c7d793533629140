"use strict";
// Questions to the network: what is known is set on the cards, and the cards show what follows for all columns.

const CARDS = 24; // shown at first
const CARD_LEVELS = 10;

// The worker that answers; where there is none, the page answers itself, a little at a time.
class Answers {
  constructor(facts, net, tell) {
    this.tell = tell;
    this.id = 0;
    try {
      const source = document.getElementById("computing").textContent;
      const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
      this.worker = new Worker(url);
      this.worker.onmessage = (event) => this.take(event.data);
      this.worker.onerror = () => this.alone(net);
      this.worker.postMessage({ page: { columns: facts.columns.map(({ name, levels, range, view }) => ({ name, levels, range, view })), nodes: facts.nodes } });
    } catch (error) {
      this.alone(net);
    }
  }

  alone(net) {
    this.worker = null;
    this.answerer = new Answerer(net);
    if (this.last) this.ask(this.last.evidence, this.last.set, this.last.sample);
  }

  ask(evidence, set, sample) {
    const question = { id: ++this.id, evidence: [...evidence], set: [...set], sample: Boolean(sample) };
    this.last = question;
    if (this.worker) {
      this.worker.postMessage(question);
      return;
    }
    this.answerer.begin(question);
    const go = () => {
      if (question.id !== this.id) return;
      const answer = this.answerer.step();
      this.take(answer);
      if (!answer.done) setTimeout(go, 0);
    };
    setTimeout(go, 0);
  }

  take(answer) {
    if (answer.id === this.id) this.tell(answer);
  }
}

class Ask {
  constructor(page, host) {
    this.page = page;
    this.evidence = new Map();
    this.set = new Map();
    this.cards = [];
    this.shown = CARDS;
    this.first = page.opening; // it comes first, then what is next to it
    this.title = heading(2, "ask-title", "Ask the network", "evidence");
    this.title.tabIndex = -1; // where the keyboard goes on from
    host.append(this.title);
    if (page.net.foreign.length) {
      const names = page.net.foreign.slice(0, 3).map((node) => page.net.columns[node.child].name);
      host.append(el("p", {}, `The page cannot compute with the models of ${listed(names)} (${page.net.foreign[0].model}); ask in Python instead.`));
      return;
    }
    this.status = el("p", { class: "status", role: "status" }, "The page is working it out.");
    this.chips = el("ul", { class: "chips", "aria-label": "What is set" });
    this.field = el("input", { type: "search", id: "ask-find", placeholder: "Show only columns named", oninput: () => this.layout() });
    this.grid = el("div", { class: "cards" });
    this.more = el("button", { type: "button", class: "plain", onclick: () => { this.shown += 48; this.layout(); } }, "Show more columns");
    host.append(el("p", {}, "Click a level, or set a number, for what you know about a case; all other columns then show what follows. Ticks show how it was before."),
      this.chips, this.status,
      el("div", { class: "toolbar" }, el("label", { for: "ask-find", class: "hidden" }, "Show only columns named"), this.field,
        el("button", { type: "button", class: "plain", onclick: () => this.reset() }, "Forget all")),
      this.grid, this.more);
    this.answers = new Answers(page.facts, page.net, (answer) => this.take(answer));
    this.chipsNow();
    this.layout();
    this.question();
  }

  question() {
    this.status.textContent = "The page is working it out.";
    this.status.dataset.done = "false";
    this.answers.ask(this.evidence, this.set, this.page.sampleOnly);
  }

  take(answer) {
    this.answer = answer;
    if (!this.page.prior && answer.done && !this.evidence.size && !this.set.size) this.page.havePrior(answer);
    this.say(answer);
    for (const card of this.cards) card.update(answer);
  }

  say(answer) {
    clear(this.status);
    this.status.dataset.done = String(answer.done);
    if (answer.impossible) {
      this.status.append(answer.exact ? "What you set cannot happen under this network. Take something back." :
        "Not one of the drawn cases agrees with what you set: it is impossible or very rare under this network. Take something back.");
    } else if (answer.exact) {
      this.status.append("Exact answer. ", help("exact", "exact answer"));
    } else if (answer.rows) {
      const agree = this.evidence.size ? [`; they say as much as ${counted(Math.round(answer.effective), "case")} that agree with what you set `, help("effective", "cases that agree")] : [];
      put(this.status, `${answer.done ? "Drawn from" : "Drawing: so far"} ${counted(answer.rows, "case")}`, agree, ". ± is the error of each answer. ", help("error", "the error"));
      if (answer.effective < 200) this.status.append(el("b", {}, " Few cases agree: the answer is rough."));
    }
  }

  // Which cards are there, in which order.
  layout() {
    const { net } = this.page, wanted = this.field.value;
    let nodes = wanted ? this.page.find(wanted) : [...net.columns.keys()];
    if (!wanted) nodes = [...new Set([this.first, ...byStrength(this.page.facts, this.first, net.blanket(this.first)), ...nodes])];
    this.more.hidden = nodes.length <= this.shown;
    const known = new Map(this.cards.map((card) => [card.i, card]));
    this.cards = nodes.slice(0, this.shown).map((i) => known.get(i) || (this.page.net.levels(i) ? new LevelCard(this, i) : new NumberCard(this, i)));
    this.grid.replaceChildren(...this.cards.map((card) => card.root));
    if (this.answer) for (const card of this.cards) card.update(this.answer);
  }

  about(i) {
    this.first = i;
    this.field.value = "";
    this.layout();
  }

  // Know a value, or, with null, know it no longer. What is set by hand stays set by hand.
  know(i, value) {
    const map = this.set.has(i) ? this.set : this.evidence;
    if (value === null) map.delete(i);
    else map.set(i, value);
    this.chipsNow();
    this.question();
  }

  byHand(i, yes) {
    const [from, to] = yes ? [this.evidence, this.set] : [this.set, this.evidence];
    to.set(i, from.get(i));
    from.delete(i);
    this.chipsNow();
    this.question();
  }

  get asked() {
    return this.evidence.size + this.set.size > 0;
  }

  value(i) {
    return this.set.has(i) ? this.set.get(i) : this.evidence.get(i);
  }

  reset() {
    this.evidence.clear();
    this.set.clear();
    this.chipsNow();
    this.question();
  }

  chipsNow() {
    const { net } = this.page, focused = this.chips.contains(document.activeElement);
    clear(this.chips);
    if (focused) this.title.focus({ preventScroll: true }); // the button that was pressed is gone
    if (!this.evidence.size && !this.set.size) {
      this.chips.append(el("li", { class: "empty" }, "Nothing is set: the cards show how the columns are spread in general."));
      return;
    }
    for (const i of [...this.evidence.keys(), ...this.set.keys()]) {
      const column = net.columns[i], value = this.value(i), words = column.levels ? cutWord(column.levels[value], 30) : short(value, column);
      const hand = this.set.has(i), name = cutWord(column.name, 30);
      this.chips.append(el("li", { class: hand ? "hand" : "" }, el("b", {}, name), ` ${hand ? "set to" : "is"} ${words} `,
        el("button", { type: "button", class: "plain", "aria-label": hand ? `${name}: I know it instead` : `${name}: set by hand instead`, onclick: () => this.byHand(i, !hand) }, hand ? "I know it instead" : "set by hand instead"),
        help("set", "set by hand"),
        el("button", { type: "button", class: "plain", "aria-label": `Forget ${name}`, onclick: () => this.know(i, null) }, "✕")));
    }
  }
}

class LevelCard {
  constructor(ask, i) {
    Object.assign(this, { ask, i, column: ask.page.net.columns[i] });
    this.list = el("ul", { class: "bars asked" });
    this.root = el("div", { class: "ask-card", "data-column": i }, el("h3", {}, nodeButton(ask.page, i)), this.list);
    this.rows = new Map();
    if (this.column.levels.length > CARD_LEVELS) this.root.append(this.field());
  }

  // Many levels: type the one that is known.
  field() {
    const id = `level-${this.i}`, note = el("span", { class: "small" });
    const field = el("input", { type: "text", id, placeholder: "type a level", onchange: () => {
      const found = this.column.levels.indexOf(field.value);
      note.textContent = found < 0 && field.value ? " no such level" : "";
      this.ask.know(this.i, found < 0 ? null : found);
    } });
    return el("p", { class: "small" }, el("label", { for: id }, `${counted(this.column.levels.length, "level")}: `), field, note);
  }

  row(level) {
    let own = this.rows.get(level);
    if (own) return own;
    const words = this.column.levels[level];
    own = { fill: el("span", { class: "bar-fill" }), mark: el("span", { class: "bar-mark" }), range: el("span", { class: "bar-range" }), value: el("span", { class: "bar-value" }) };
    own.button = el("button", { type: "button", class: "level", "aria-pressed": "false", title: words, onclick: () => {
      this.ask.know(this.i, this.ask.value(this.i) === level ? null : level);
    } }, el("span", { class: "bar-name" }, cutWord(words, 22)), el("span", { class: "bar-track" }, own.fill, own.range, own.mark), own.value);
    own.root = el("li", {}, own.button);
    this.rows.set(level, own);
    return own;
  }

  update(answer) {
    const own = answer.nodes && answer.nodes[this.i], prior = this.ask.page.prior;
    const known = this.ask.value(this.i);
    this.root.classList.toggle("known", known !== undefined);
    this.root.classList.toggle("hand", this.ask.set.has(this.i));
    this.root.classList.toggle("stale", !own);
    if (!own) return;
    const places = [...this.column.levels.keys()];
    if (places.length > CARD_LEVELS) places.sort((a, b) => own.shares[b] - own.shares[a] || a - b);
    const shown = places.slice(0, CARD_LEVELS);
    if (known !== undefined && !shown.includes(known)) shown[CARD_LEVELS - 1] = known;
    const rows = shown.map((level) => {
      const row = this.row(level), share = own.shares[level], error = own.errors ? own.errors[level] : 0;
      row.fill.style.width = `${100 * share}%`;
      const low = Math.max(share - error, 0), high = Math.min(share + error, 1);
      row.range.hidden = known !== undefined || error < 0.004;
      row.range.style.left = `${100 * low}%`;
      row.range.style.width = `${100 * (high - low)}%`;
      row.mark.hidden = !prior || !this.ask.asked;
      if (!row.mark.hidden) row.mark.style.left = `${100 * prior.nodes[this.i].shares[level]}%`;
      row.value.textContent = percent(share) + (known === undefined && error ? ` ± ${(100 * error).toFixed(error < 0.1 ? 1 : 0)}` : "");
      row.value.dataset.share = share;
      row.value.dataset.error = error;
      row.button.setAttribute("aria-pressed", String(known === level));
      return row.root;
    });
    // Only where the order has changed: what is taken out loses the keyboard.
    if (rows.length !== this.list.children.length || rows.some((row, k) => row !== this.list.children[k])) {
      const focused = this.list.contains(document.activeElement) ? document.activeElement : null;
      this.list.replaceChildren(...rows);
      if (focused) focused.focus();
    }
  }
}

class NumberCard {
  constructor(ask, i) {
    Object.assign(this, { ask, i, column: ask.page.net.columns[i] });
    const [low, high] = this.column.range, id = `value-${i}`, name = cutWord(this.column.name, 40);
    this.chart = el("div");
    this.words = el("p", { class: "small" });
    this.slider = el("input", { type: "range", min: low, max: high, step: (high - low) / 200 || "any", "aria-label": `${name}: drag to set`, oninput: () => {
      this.number.value = typed(Number(this.slider.value), this.column);
    }, onchange: () => this.ask.know(i, Number(this.slider.value)) });
    this.number = el("input", { type: "number", id, step: "any", placeholder: "a value", onchange: () => {
      const text = this.number.value.trim();
      this.ask.know(i, text === "" || !Number.isFinite(Number(text)) ? null : Number(text));
    } });
    this.root = el("div", { class: "ask-card", "data-column": i }, el("h3", {}, nodeButton(ask.page, i)), this.chart, this.words,
      el("div", { class: "number-field" }, this.slider, el("label", { for: id, class: "hidden" }, name), this.number));
  }

  // Said where the model spreads the column further than the data goes.
  beyond({ quantiles: [low, high] }) {
    const [least, most] = this.column.range;
    return low < least || high > most ? ` (the data: ${short(least, this.column)} to ${short(most, this.column)})` : "";
  }

  update(answer) {
    const own = answer.nodes && answer.nodes[this.i], known = this.ask.value(this.i), column = this.column;
    this.root.classList.toggle("known", known !== undefined);
    this.root.classList.toggle("hand", this.ask.set.has(this.i));
    this.root.classList.toggle("stale", !own);
    if (known === undefined && document.activeElement !== this.number) this.number.value = "";
    else if (known !== undefined) {
      this.slider.value = known;
      if (document.activeElement !== this.number) this.number.value = known;
    }
    if (!own) return;
    if (known === undefined) this.slider.value = own.median;
    const prior = this.ask.page.prior, ends = [own.low, own.low + BINS * own.step];
    const bars = known === undefined ? Array.from(own.bins.slice(1, BINS + 1)) : null;
    const before = prior && prior.nodes[this.i] !== own ? [{ ink: "var(--mark)", points: Array.from(prior.nodes[this.i].bins.slice(1, BINS + 1), (share, k) => [own.low + (k + 0.5) * own.step, share]) }] : [];
    const words = known === undefined ? `middle value ${withSpread(own.median, own.error, column, 1)}; 90 % between ${rough(own.quantiles[0], column)} and ${rough(own.quantiles[1], column)}${this.beyond(own)}` : `${this.ask.set.has(this.i) ? "set to" : "is"} ${short(known, column)}`;
    this.chart.replaceChildren(histogram({ column, bars, low: ends[0], high: ends[1], ends, curves: before, marks: known === undefined ? [own.median] : [known], width: 260, height: 100, words }));
    this.words.textContent = words;
    this.words.dataset.median = own.median;
    this.words.dataset.error = own.error;
  }
}
