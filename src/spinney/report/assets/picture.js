"use strict";
// The picture of the graph: places come with the page, panning, zooming, searching and highlighting are here.

const STRENGTHS = [ // from which strength on (nats per row), its class and its words
  [-Infinity, "s0", "none: the score would rather do without it"],
  [1e-12, "s1", "weak: below 0.01 nats per row"],
  [0.01, "s2", "moderate: 0.01 to 0.1"],
  [0.1, "s3", "strong: 0.1 to 0.5"],
  [0.5, "s4", "very strong: above 0.5"],
];

function strengthClass(strength) {
  if (strength === null || strength === undefined) return "unknown";
  return STRENGTHS.filter(([from]) => strength >= from).pop()[1];
}

// "strong"
function strengthName(strength) {
  return STRENGTHS.filter(([from]) => strength >= from).pop()[2].split(":")[0];
}

function strengthWords(strength) {
  return strength === null || strength === undefined ? "not known" : `${fixed(strength, 3)} nats per row`;
}

const GLYPHS = { // of kinds, so that colour is not all that tells them apart
  categorical: "M-4 -4h3.4v3.4h-3.4zM0.6 -4h3.4v3.4h-3.4zM-4 0.6h3.4v3.4h-3.4zM0.6 0.6h3.4v3.4h-3.4z",
  ordinal: "M-4.5 1.5h2.6v3h-2.6zM-1.3 -1.5h2.6v6h-2.6zM1.9 -4.5h2.6v9h-2.6z",
  continuous: "M-5 4c2.6 0 2.6 -8 5 -8s2.4 8 5 8z",
};

const FAR = 0.38; // the scale below which names are not shown
const CORNERS = { categorical: 2, ordinal: 8, continuous: 15 }; // of boxes: seen from afar, too

// A name, cut to so many pixels; letters are as wide as report/drawing.py takes them.
function fitted(name, width) {
  const wide = (letter) => (letter >= "\u2e80" ? 13 : "mw@%".includes(letter) || (letter !== letter.toLowerCase() && letter === letter.toUpperCase()) ? 8.9 : 6.9);
  let left = width, shown = 0;
  const letters = [...(name || "(empty)")];
  while (shown < letters.length && wide(letters[shown]) <= left) left -= wide(letters[shown++]);
  return shown === letters.length ? letters.join("") : `${letters.slice(0, Math.max(shown - 1, 1)).join("")}…`;
}

class Picture {
  constructor(page, host) {
    this.page = page;
    this.facts = page.facts.picture;
    this.down = this.facts.down;
    this.view = { x: 0, y: 0, scale: 1 };
    this.pointers = new Map();
    this.layer = svg("g");
    this.nodes = [];
    this.edges = [];
    this.root = svg("svg", { class: "graph", tabindex: "0", role: "application", "aria-roledescription": "picture", "aria-label": this.words() }, this.layer);
    this.panel = el("aside", { class: "panel", "aria-live": "polite", "aria-label": "The chosen column" });
    this.draw();
    this.box = el("div", { class: "graph-box" }, this.root);
    host.append(heading(2, "picture-title", "The picture", "link"), this.toolbar(),
      el("div", { class: "picture-frame" }, this.box, this.panel), this.legend(), this.list());
    this.listen();
    this.start();
    this.show(null);
  }

  // All of it.
  start() {
    const { width, height } = this.facts, wide = this.box.clientWidth;
    const wanted = Math.min(wide / width, 1.35) * height + 32; // a flat picture needs no high box
    this.box.style.setProperty("height", `${Math.round(clip(wanted, 260, Math.max(innerHeight * 0.7, 350)))}px`);
    this.fit();
  }

  words() {
    const { columns, facts } = this.page;
    return `Graph of ${counted(this.page.net.columns.length, "column")} and ${counted(facts.edges.length, "link")}. ` +
      "With the keyboard: arrow keys go along links and to neighbours, Enter opens a column, plus and minus zoom, 0 shows all. All links are listed below the picture.";
  }

  draw() {
    const { net, facts } = this.page, [w, h] = this.facts.box;
    for (const edge of facts.edges) {
      const group = svg("g", { class: `edge ${strengthClass(edge.strength)} ${edge.compelled ? "compelled" : "reversible"}` },
        svg("path", { d: this.route(edge.route), class: "line" }), svg("path", { d: this.head(edge.route), class: "head" }));
      group.append(svg("title", {}, `${net.columns[edge.from].name} → ${net.columns[edge.to].name}: ${strengthWords(edge.strength)}, ${edge.compelled ? "direction fixed" : "direction open"}`));
      this.edges.push(group);
      this.layer.append(group);
    }
    net.columns.forEach((column, i) => {
      const [x, y] = this.facts.places[i];
      const group = svg("g", { class: `node ${column.kind}`, transform: `translate(${x} ${y})` },
        svg("rect", { x: -w / 2, y: -h / 2, width: w, height: h, rx: CORNERS[column.kind] }),
        svg("path", { d: GLYPHS[column.kind], class: "glyph", transform: `translate(${-w / 2 + 14} 0)` }),
        svg("text", { x: -w / 2 + 26, y: 4.5 }, fitted(column.name, w - 35)),
        svg("title", {}, `${column.name} (${column.kind})`));
      group.dataset.node = i;
      this.nodes.push(group);
      this.layer.append(group);
    });
  }

  // A smooth way through the points, as report/drawing.py's smooth(): it leaves and enters boxes at right angles, and never
  // swings out beyond its points.
  route(points) {
    const turn = ([x, y]) => (this.down ? [x, y] : [y, x]); // sideways, along
    const at = [...points.slice(0, -1), this.before(points[points.length - 1], 6)].map(turn);
    const secants = at.slice(1).map(([u, v], i) => (u - at[i][0]) / (v - at[i][1]));
    const slopes = at.map((_, i) => {
      const s = secants[i - 1], t = secants[i];
      return s * t > 0 ? clip((2 * s * t) / (s + t), -1.5, 1.5) : 0;
    });
    let d = `M${points[0]}`;
    for (let i = 1; i < at.length; i++) {
      const [[a, b], [u, v]] = [at[i - 1], at[i]], half = (v - b) / 2;
      const bend = [[a + slopes[i - 1] * half, b + half], [u - slopes[i] * half, b + half], [u, v]];
      d += `C${bend.map((point) => turn(point).map((own) => own.toFixed(1)).join(" ")).join(" ")}`;
    }
    return d;
  }

  before([x, y], room) {
    return this.down ? [x, y - room] : [x - room, y];
  }

  head(points) {
    const [x, y] = points[points.length - 1];
    return this.down ? `M${x} ${y}l-5 -10h10z` : `M${x} ${y}l-10 -5v10z`;
  }

  // --- what stands around ---------------------------------------------------------------------------------------------

  toolbar() {
    const { net } = this.page;
    const found = el("span", { class: "small", role: "status" });
    const field = el("input", { type: "search", id: "find-node", placeholder: "Find a column", autocomplete: "off" });
    const list = el("ul", { class: "found", id: "found-nodes", hidden: true });
    const look = () => {
      const matches = this.page.find(field.value);
      clear(list);
      list.hidden = !matches.length || !field.value;
      if (!list.hidden) {
        list.append(...matches.slice(0, 8).map((i) => el("li", {}, el("button", { type: "button", onclick: () => this.go(i, field, list) }, cutWord(net.columns[i].name, 50)))));
      }
      found.textContent = field.value ? counted(matches.length, "match", "matches") : "";
      this.mark(field.value ? matches : []);
    };
    field.addEventListener("input", look);
    field.addEventListener("keydown", (event) => {
      const matches = this.page.find(field.value);
      if (event.key === "Enter" && matches.length && field.value) this.go(matches[0], field, list);
      if (event.key === "Escape") { field.value = ""; look(); }
      if (event.key === "ArrowDown" && !list.hidden) { event.preventDefault(); list.querySelector("button").focus(); }
    });
    list.addEventListener("keydown", (event) => {
      const item = event.target.closest("li"), next = { ArrowDown: item.nextElementSibling, ArrowUp: item.previousElementSibling || field.parentNode }[event.key];
      if (event.key === "Escape") { list.hidden = true; field.focus(); }
      if (next) next.querySelector("button, input").focus();
      if (event.key.startsWith("Arrow")) event.preventDefault();
    });
    const button = (text, label, act) => el("button", { type: "button", class: "plain", "aria-label": label, title: label, onclick: act }, text);
    return el("div", { class: "toolbar" },
      el("div", { class: "finder" }, el("label", { for: "find-node", class: "hidden" }, "Find a column"), field, list), found,
      el("span", { class: "grow" }),
      button("−", "Zoom out", () => this.zoom(1 / 1.4)), button("+", "Zoom in", () => this.zoom(1.4)), el("button", { type: "button", class: "plain", title: "Show the whole picture", onclick: () => this.fit() }, "Fit"));
  }

  go(i, field, list) {
    list.hidden = true;
    field.value = this.page.net.columns[i].name;
    this.mark([]);
    this.page.choose(i, false);
    this.centre(i);
    field.focus();
  }

  legend() {
    const { facts, net } = this.page;
    const kinds = [...new Set(net.columns.map((column) => column.kind))];
    const used = new Set(facts.edges.map((edge) => strengthClass(edge.strength)));
    const sample = (cls, extra) => svg("svg", { width: 34, height: 12, class: "graph-key", "aria-hidden": "true" },
      svg("g", { class: `edge ${cls} ${extra}` }, svg("path", { d: "M1 6h24", class: "line" }), svg("path", { d: "M33 6l-9 -4v8z", class: "head" })));
    const items = [
      ...kinds.map((kind) => el("li", {}, svg("svg", { width: 18, height: 14, viewBox: "-9 -7 18 14", "aria-hidden": "true" }, svg("g", { class: `node ${kind}` }, svg("path", { d: GLYPHS[kind], class: "glyph" }))), ` ${kind}`)),
      ...STRENGTHS.filter(([, cls]) => used.has(cls)).map(([, cls, words]) => el("li", {}, sample(cls, "compelled"), ` ${words}`)),
      facts.edges.some((edge) => edge.compelled) ? el("li", {}, sample(used.has("unknown") ? "unknown" : "s3", "compelled"), " direction fixed ", help("compelled", "direction fixed")) : null,
      facts.edges.some((edge) => !edge.compelled) ? el("li", {}, sample(used.has("unknown") ? "unknown" : "s3", "reversible"), " direction open ", help("reversible", "direction open")) : null,
    ];
    return el("div", {}, el("ul", { class: "legend" }, el("li", {}, el("b", {}, "Key "), help("strength", "strength of a link")), items),
      facts.strengths_missing && facts.edges.length ? el("p", { class: "small" }, `The strengths of the links are not known: ${facts.strengths_missing}.`) : null);
  }

  list() {
    const { facts } = this.page;
    const rows = facts.edges.slice().sort((a, b) => (b.strength ?? -1e9) - (a.strength ?? -1e9)).map((edge) => [
      nodeButton(this.page, edge.from), nodeButton(this.page, edge.to),
      edge.strength === null ? "not known" : fixed(edge.strength, 4), edge.compelled ? "fixed" : "open"]);
    return el("details", {}, el("summary", {}, `All ${counted(facts.edges.length, "link")} as a table`),
      dataTable("Links, strongest first", ["from", "to", "nats per row", "direction"], rows));
  }

  // --- choosing -------------------------------------------------------------------------------------------------------

  show(i) {
    const { net, facts } = this.page;
    this.root.classList.toggle("focused", i !== null);
    const near = new Set(i === null ? [] : net.blanket(i));
    this.nodes.forEach((group, k) => {
      group.classList.toggle("chosen", k === i);
      group.classList.toggle("near", near.has(k));
    });
    facts.edges.forEach((edge, k) => this.edges[k].classList.toggle("near", edge.from === i || edge.to === i));
    clear(this.panel);
    if (i === null) {
      const far = this.view.scale < FAR ? " Names show when you zoom in." : "";
      this.panel.append(el("p", {}, `Choose a column in the picture, or find it by its name: here you then see what it is linked to.${far}`),
        el("p", { class: "small" }, "Drag to move; plus and minus, two fingers, or the wheel after a click in the picture zoom."));
      return;
    }
    const column = net.columns[i];
    this.panel.append(el("h3", {}, cutWord(column.name, 60)), el("p", { class: "small" }, describeColumn(column)),
      el("dl", {},
        el("dt", {}, "Parents ", help("parents", "parents")), el("dd", {}, nodeList(this.page, net.nodes[i].parents)),
        el("dt", {}, "Children ", help("children", "children")), el("dd", {}, nodeList(this.page, net.children[i])),
        el("dt", {}, "Markov blanket ", help("blanket", "Markov blanket")), el("dd", {}, nodeList(this.page, net.blanket(i)))),
      el("p", {}, el("button", { type: "button", class: "main", onclick: () => this.page.choose(i, true) }, "See its model"), " ",
        el("button", { type: "button", class: "main", onclick: () => this.page.askAbout(i) }, "Ask about it")));
  }

  mark(nodes) {
    const wanted = new Set(nodes);
    this.nodes.forEach((group, i) => group.classList.toggle("found", wanted.has(i)));
  }

  // On paper: all of it, whatever is seen on the screen.
  print(yes) {
    const { width, height } = this.facts;
    if (yes) {
      this.root.setAttribute("viewBox", `-10 -10 ${width + 20} ${height + 20}`);
      this.layer.setAttribute("transform", "");
    } else {
      this.root.removeAttribute("viewBox");
      this.set(this.view);
    }
  }

  // --- moving ---------------------------------------------------------------------------------------------------------

  size() {
    const box = this.root.getBoundingClientRect();
    return [box.width || 800, box.height || 480];
  }

  fit() {
    const [w, h] = this.size(), { width, height } = this.facts;
    const scale = Math.min((w - 24) / width, (h - 24) / height, 1.35);
    this.set({ scale, x: (w - width * scale) / 2, y: (h - height * scale) / 2 });
  }

  centre(i, least = 0.8) {
    const [w, h] = this.size(), [x, y] = this.facts.places[i];
    const scale = Math.max(this.view.scale, least);
    this.set({ scale, x: w / 2 - x * scale, y: h / 2 - y * scale });
  }

  zoom(factor, at) {
    const [w, h] = this.size(), [px, py] = at || [w / 2, h / 2];
    const least = Math.min(0.02, (w / this.facts.width) * 0.5);
    const scale = clip(this.view.scale * factor, least, 4), real = scale / this.view.scale;
    this.set({ scale, x: px - (px - this.view.x) * real, y: py - (py - this.view.y) * real });
  }

  set(view) {
    this.view = view;
    this.layer.setAttribute("transform", `translate(${view.x.toFixed(2)} ${view.y.toFixed(2)}) scale(${view.scale.toFixed(5)})`);
    this.root.classList.toggle("far", view.scale < FAR);
  }

  listen() {
    const root = this.root;
    const place = (event) => {
      const box = root.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    root.addEventListener("wheel", (event) => {
      if (document.activeElement !== root && !event.ctrlKey) return; // the page scrolls
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * 0.0015), place(event));
    }, { passive: false });
    let moved = 0;
    root.addEventListener("pointerdown", (event) => {
      this.pointers.set(event.pointerId, place(event));
      moved = 0;
      root.setPointerCapture(event.pointerId);
    });
    root.addEventListener("pointermove", (event) => {
      const before = this.pointers.get(event.pointerId);
      if (!before) return;
      const now = place(event);
      const others = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, point]) => point);
      moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
      if (others.length) {
        const spread = (point) => Math.hypot(point[0] - others[0][0], point[1] - others[0][1]) || 1;
        this.zoom(spread(now) / spread(before), others[0]);
      } else {
        this.set({ ...this.view, x: this.view.x + now[0] - before[0], y: this.view.y + now[1] - before[1] });
      }
      this.pointers.set(event.pointerId, now);
    });
    const end = (event) => {
      if (!this.pointers.delete(event.pointerId) || event.type !== "pointerup" || moved > 5) return;
      const hit = document.elementFromPoint(event.clientX, event.clientY);
      const group = hit && hit.closest && hit.closest("[data-node]");
      this.page.choose(group ? Number(group.dataset.node) : null, false);
    };
    root.addEventListener("pointerup", end);
    root.addEventListener("pointercancel", end);
    root.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.page.chosen === null && this.start()).observe(root);
    root.addEventListener("pointerover", (event) => this.hover(event.target));
    root.addEventListener("pointerleave", () => this.hover(null));
  }

  // A column under the pointer shows its links; a chosen one stays as it is.
  hover(target) {
    if (this.page.chosen !== null) return;
    const group = target && target.closest && target.closest("[data-node]");
    const i = group ? Number(group.dataset.node) : -1;
    this.page.facts.edges.forEach((edge, k) => this.edges[k].classList.toggle("near", edge.from === i || edge.to === i));
  }

  key(event) {
    const { net } = this.page, at = this.page.chosen;
    const acts = { "+": () => this.zoom(1.4), "=": () => this.zoom(1.4), "-": () => this.zoom(1 / 1.4), 0: () => this.fit(), Escape: () => this.page.choose(null, false) };
    const arrows = this.down ? ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"] : ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"];
    const move = arrows.indexOf(event.key);
    if (acts[event.key]) acts[event.key]();
    else if (event.key === "Enter" && at !== null) this.page.choose(at, true);
    else if (move >= 0) {
      const next = at === null ? net.order[0] : move === 0 ? net.nodes[at].parents[0] : move === 1 ? net.children[at][0] : this.beside(at, move === 2 ? -1 : 1);
      if (next !== undefined) {
        this.page.choose(next, false);
        this.centre(next);
      }
    } else return;
    event.preventDefault();
  }

  // The next node in the same layer.
  beside(at, side) {
    const across = this.down ? 0 : 1, places = this.facts.places, own = places[at];
    const others = places.map((place, i) => [i, (place[across] - own[across]) * side, Math.abs(place[1 - across] - own[1 - across])])
      .filter(([i, away, off]) => i !== at && away > 0 && off < 5);
    others.sort((a, b) => a[1] - b[1]);
    return others.length ? others[0][0] : undefined;
  }
}

// categorical, 3 levels: a, b, c
function describeColumn(column) {
  if (!column.levels) return `continuous, from ${short(column.range[0], column)} to ${short(column.range[1], column)}`;
  const between = column.kind === "ordinal" ? " < " : ", ";
  const shown = column.levels.slice(0, 5).map((level) => cutWord(level, 20)).join(between);
  return `${column.kind}, ${counted(column.levels.length, "level")}: ${shown}${column.levels.length > 5 ? ", …" : ""}`;
}
