"use strict";
// The page: reads its facts, draws the parts, and keeps what is chosen.

const PARTS = [["headline", "Headline"], ["picture", "Picture"], ["node", "Column"], ["ask", "Ask"], ["search", "Search"], ["data", "Data"], ["again", "Again"]];

class Page {
  constructor(facts) {
    this.facts = facts;
    this.net = new Net(facts);
    this.chosen = null;
    this.opening = facts.target ?? usualTarget(this.net);
    this.prior = null; // how the columns are spread in general
    this.waiting = [];
    this.lower = this.net.columns.map((column) => column.name.toLowerCase());
    const part = (id) => document.getElementById(id);
    this.bar();
    this.printing();
    headline(this, part("headline"));
    this.picture = new Picture(this, part("picture"));
    this.nodePage = new NodePage(this, part("node"));
    this.nodePage.show(this.opening);
    searchPart(this, part("search"));
    dataPart(this, part("data"));
    againPart(this, part("again"));
    part("foot").append(`Made by spinney ${facts.version}. This page loads nothing and sends nothing.`);
    // Drawn first, asked afterwards.
    setTimeout(() => {
      this.ask = new Ask(this, part("ask"));
      document.body.dataset.ready = "true";
    }, 0);
  }

  bar() {
    document.getElementById("parts").append(...PARTS.map(([id, words]) => el("a", { href: `#${id}` }, words)));
    const button = document.getElementById("theme"), root = document.documentElement;
    const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
    const name = () => {
      button.textContent = dark() ? "Light" : "Dark";
      button.setAttribute("aria-label", `${button.textContent} colours`);
    };
    button.addEventListener("click", () => {
      root.dataset.theme = dark() ? "light" : "dark";
      name();
    });
    name();
  }

  // On paper nothing can be scrolled: the picture is all there, and trees are made as wide as the sheet.
  printing() {
    addEventListener("beforeprint", () => {
      this.picture.print(true);
      for (const tree of document.querySelectorAll(".tree")) {
        tree.dataset.zoom = tree.style.getPropertyValue("zoom");
        tree.style.setProperty("zoom", clip(640 / tree.dataset.width, 0.2, 1));
      }
    });
    addEventListener("afterprint", () => {
      this.picture.print(false);
      for (const tree of document.querySelectorAll(".tree")) tree.style.setProperty("zoom", tree.dataset.zoom || 1);
    });
  }

  // Columns whose names hold these words; those that begin with them first.
  find(text) {
    const wanted = text.trim().toLowerCase();
    const places = [...this.lower.keys()].filter((i) => this.lower[i].includes(wanted));
    return places.sort((a, b) => this.lower[b].startsWith(wanted) - this.lower[a].startsWith(wanted) || a - b);
  }

  // Choose a column, or none; `open` goes to its page.
  choose(i, open) {
    this.chosen = i;
    this.picture.show(i);
    if (i === null) return;
    this.nodePage.show(i);
    if (open) {
      document.getElementById("node").scrollIntoView();
      this.nodePage.title.focus({ preventScroll: true });
    }
  }

  askAbout(i) {
    if (this.ask && this.ask.answers) this.ask.about(i);
    document.getElementById("ask").scrollIntoView();
    if (this.ask) this.ask.title.focus({ preventScroll: true });
  }

  havePrior(answer) {
    this.prior = answer;
    this.waiting.splice(0).forEach((act) => act());
  }

  afterPrior(act) {
    this.waiting.push(act);
  }
}

const page = new Page(JSON.parse(document.getElementById("facts").textContent));
