// Answers questions: what does the network say of all columns, given some? Runs in a worker, or, where the browser
// gives none, in the page, a little at a time.

const CLOSE = 0.01; // the error at which sampling ends
const MOST_SECONDS = 8;
const MOST_ROWS = 400000;
const BATCH = 2000; // rows between two looks at the errors: time decides when answers are told, not what they are
const TELL = 250; // milliseconds

class Answerer {
  constructor(net) {
    this.net = net;
    this.cliques = Cliques.of(net);
  }

  // Start a question {id, evidence, set, sample}; step() goes on with it until it gives an answer that is done.
  begin(question) {
    this.question = question;
    this.evidence = new Map(question.evidence);
    this.set = new Map(question.set);
    const sampled = question.sample || !this.cliques;
    this.sampler = sampled ? new Sampler(this.net, this.evidence, this.set, 1) : null;
    this.began = Date.now();
  }

  step() {
    const { id } = this.question;
    if (!this.sampler) {
      const found = this.cliques.answer(this.evidence, this.set);
      if (!found) return { id, done: true, impossible: true, exact: true };
      return { id, done: true, exact: true, nodes: found.map((shares) => ({ shares, errors: null })) };
    }
    const sampler = this.sampler, start = Date.now();
    let late = false, done = false, nodes = null;
    while (!done && Date.now() - start < TELL) {
      sampler.draw(this.chunk());
      late = (Date.now() - this.began) / 1000 > MOST_SECONDS || sampler.drawn >= MOST_ROWS;
      nodes = null;
      if (sampler.drawn % BATCH === 0 && sampler.effective > BATCH) {
        nodes = sampler.results();
        done = nodes.every((own, i) => this.close(own, i));
      }
      done = done || late;
    }
    if (!sampler.weight) return { id, done: late, impossible: late, rows: sampler.drawn, effective: 0 };
    return { id, done, nodes: nodes || sampler.results(), rows: sampler.drawn, effective: sampler.effective };
  }

  // Of a large network a part of a batch, so that answers come soon.
  chunk() {
    return this.net.nodes.length > 200 ? 100 : 500;
  }

  close(own, i) {
    if (own.shares) return own.errors.every((error) => error < CLOSE);
    const [low, high] = viewOf(this.net.columns[i]);
    return own.error < CLOSE * (high - low);
  }
}

if (typeof document === "undefined" && typeof self !== "undefined") {
  let answerer = null, current = -1;
  const go = (id) => {
    if (id !== current) return; // a newer question came
    const answer = answerer.step();
    self.postMessage(answer);
    if (!answer.done) setTimeout(go, 0, id);
  };
  self.onmessage = (event) => {
    if (event.data.page) {
      answerer = new Answerer(new Net(event.data.page));
      self.postMessage({ ready: true, exact: answerer.cliques !== null });
      return;
    }
    current = event.data.id;
    answerer.begin(event.data);
    go(current);
  };
}
