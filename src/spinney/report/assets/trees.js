"use strict";
// Trees and decision graphs, drawn from the top: a box per question, a small plot in every leaf. Of large ones the top is
// drawn; narrow screens have an outline instead, which is also what a screen reader reads.

const LEAF_WIDTH = 224, QUESTION_HEIGHT = 112, LEAF_HEIGHT = 172, MOST_LEAVES = 20, FEW_LEAVES = 3;

// tree: {name, ends: what leaves show, alone: what a single one shows, below(at), question(at), rows(at), plot(host, at)}; node 0 is the root.
function decisionTree(host, tree) {
  const depth = new Map([[0, 0]]), leaves = [], shared = new Map();
  visit(tree, 0, depth, leaves, shared);
  const joined = [...shared.values()].some((count) => count > 1);
  if (leaves.length > 1) {
    host.append(el("p", {}, `A decision ${joined ? "graph" : "tree"} with ${counted(leaves.length, "leaf", "leaves")} `, help(joined ? "graph" : "tree", "decision tree"), `. ${tree.ends}`));
  } else {
    host.append(el("p", {}, tree.alone));
    const only = el("div", { class: "leaf alone" });
    tree.plot(only, leaves[0]);
    host.append(only);
    return;
  }
  const words = matchMedia("(max-width: 52rem)").matches && leaves.length > FEW_LEAVES;
  const outline = el("details", { class: "outline", open: words }, el("summary", {}, words ? "In words" : "The same in words"), outlineOf(tree, shared, leaves.reduce((sum, leaf) => sum + tree.rows(leaf), 0) || 1));
  if (!words) host.append(topDrawing(tree, depth, leaves, joined));
  host.append(outline);
}

// Depth of every node (the longest way to it), leaves from left to right, and how many ways lead to each.
function visit(tree, root, depth, leaves, shared) {
  const stack = [root], seen = new Set();
  while (stack.length) {
    const at = stack.pop();
    if (seen.has(at)) continue;
    seen.add(at);
    const below = tree.below(at);
    if (!below.length) leaves.push(at);
    for (const next of below) shared.set(next, (shared.get(next) || 0) + 1);
    stack.push(...below.slice().reverse());
  }
  const waiting = new Map(shared), order = [root];
  for (let i = 0; i < order.length; i++) {
    for (const next of tree.below(order[i])) {
      depth.set(next, Math.max(depth.get(next) || 0, depth.get(order[i]) + 1));
      waiting.set(next, waiting.get(next) - 1);
      if (waiting.get(next) === 0) order.push(next);
    }
  }
  depth.order = order;
}

// The drawing; of a large tree the top, as deep as it has few enough ends. Where leaves are shared, those below a question
// are no rows of its own.
function topDrawing(tree, depth, leaves, joined) {
  if (leaves.length <= MOST_LEAVES) return treeDrawing(tree, depth, leaves);
  let deep = 1;
  const upTo = (most) => (at) => (depth.get(at) >= most ? [] : tree.below(at));
  const ends = (most) => {
    const found = [];
    visit({ below: upTo(most) }, 0, new Map([[0, 0]]), found, new Map());
    return found;
  };
  while (ends(deep + 1).length <= MOST_LEAVES) deep++;
  const under = (at) => {
    const found = [], seen = new Map();
    visit(tree, at, new Map([[at, 0]]), found, seen);
    return found;
  };
  const top = {
    ...tree,
    below: upTo(deep),
    rows: (at) => (joined && tree.below(at).length ? null : under(at).reduce((sum, leaf) => sum + tree.rows(leaf), 0)),
    plot: (host, at) => (tree.below(at).length ? host.append(el("p", {}, `${counted(under(at).length, "leaf", "leaves")} below: see in words`)) : tree.plot(host, at)),
  };
  const topDepth = new Map([[0, 0]]), topLeaves = [];
  visit(top, 0, topDepth, topLeaves, new Map());
  return treeDrawing(top, topDepth, topLeaves);
}

function treeDrawing(tree, depth, leaves) {
  const x = new Map(leaves.map((leaf, i) => [leaf, (i + 0.5) * LEAF_WIDTH]));
  for (const at of depth.order.slice().reverse()) {
    const below = tree.below(at);
    if (below.length) x.set(at, below.reduce((sum, next) => sum + x.get(next), 0) / below.length);
  }
  const y = (at) => depth.get(at) * QUESTION_HEIGHT + 8;
  const width = leaves.length * LEAF_WIDTH;
  const height = Math.max(...leaves.map((leaf) => y(leaf))) + LEAF_HEIGHT;
  const lines = svg("svg", { class: "tree-lines", width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  const canvas = el("div", { class: "tree", style: { width: `${width}px`, height: `${height}px` } }, lines);
  const total = leaves.reduce((sum, leaf) => sum + tree.rows(leaf), 0) || 1;
  for (const at of depth.order) {
    const below = tree.below(at);
    if (!below.length) {
      const plot = el("div", { class: "leaf", style: { left: `${x.get(at) - LEAF_WIDTH / 2 + 6}px`, top: `${y(at)}px` } });
      tree.plot(plot, at);
      plot.append(el("p", { class: "small" }, leafRows(tree.rows(at), total)));
      canvas.append(plot);
      continue;
    }
    const asked = tree.question(at);
    canvas.append(el("div", { class: "question", style: { left: `${x.get(at)}px`, top: `${y(at)}px` }, title: asked.name }, cutWord(asked.name, 26)));
    below.forEach((next, right) => {
      const from = [x.get(at), y(at) + 34], to = [x.get(next), y(next)];
      const bend = (from[1] + to[1]) / 2;
      lines.append(svg("path", { d: `M${from} C${from[0]} ${bend} ${to[0]} ${bend} ${to}`, class: "branch", "stroke-width": 1.5 }));
      const words = right ? asked.right : asked.left;
      const at2 = [from[0] + (to[0] - from[0]) * 0.5, bend];
      canvas.append(el("div", { class: "answer", style: { left: `${at2[0] - 70}px`, top: `${at2[1] - 11}px` }, title: words }, cutWord(words, 24)));
    });
  }
  // What is not much wider than the page is made to fit; of the rest the root is in the middle.
  const box = el("div", { class: "scroll tree-scroll", tabindex: "0", role: "region", "aria-label": `Decision tree of ${tree.name}; the same in words follows` }, canvas);
  canvas.dataset.width = width;
  requestAnimationFrame(() => {
    const room = box.clientWidth, scale = clip(room / width, 0.62, 1);
    const bottom = Math.max(...[...canvas.querySelectorAll(".leaf")].map((leaf) => leaf.offsetTop + leaf.offsetHeight));
    canvas.style.setProperty("height", `${bottom + 8}px`);
    canvas.style.setProperty("zoom", scale);
    box.scrollLeft = x.get(0) * scale - room / 2;
    if (width * scale > room + 1) box.before(el("p", { class: "small screen" }, "It is wider than the page: scroll sideways to see all of it."));
  });
  return box;
}

function leafRows(rows, total) {
  if (rows === null) return "";
  return rows > 0 ? `${counted(Math.round(rows), "row")} (${percent(rows / total)})` : "no rows: what is usual, with a wide spread";
}

// Nested lists; a node that several ways lead to is written out once.
function outlineOf(tree, shared, total) {
  const told = new Map();
  const build = (at, depth) => {
    if (told.has(at)) return el("p", { class: "small" }, `continue at point ${told.get(at)}`);
    const host = el("div");
    if (shared.get(at) > 1) {
      told.set(at, told.size + 1);
      host.append(el("p", { class: "small" }, `point ${told.get(at)}`));
    }
    const below = tree.below(at);
    if (!below.length) {
      host.append(el("p", { class: "small" }, leafRows(tree.rows(at), total)));
      const plot = el("div", { class: "outline-leaf" });
      tree.plot(plot, at);
      host.append(plot);
      return host;
    }
    const asked = tree.question(at), list = el("ul");
    below.forEach((next, right) => list.append(el("li", {}, el("b", {}, `${cutWord(asked.name, 40)}: ${right ? asked.right : asked.left}`), depth > 60 ? "" : build(next, depth + 1))));
    host.append(list);
    return host;
  };
  return build(0, 0);
}
