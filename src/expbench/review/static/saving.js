// Decisions are sent one after the other, as soon as they are made. What a server did not take, since it had
// ended, is kept in this browser and sent when one is there again, by this page or by the next one.

const AGAIN = 2000;
const PREFIX = "expbench-review";

export async function ask(address, options) {
  const answer = await fetch(address, { cache: "no-store", ...options });
  const isJson = (answer.headers.get("content-type") ?? "").startsWith("application/json");
  const body = isJson ? await answer.json() : { message: await answer.text() };
  return { status: answer.status, body };
}

export class Saver {
  // `told` is called with the answer to each decision, `state` with "saving", "saved", or why nothing is.
  constructor(owner, told, state) {
    this.tab = crypto.randomUUID();
    this.owner = `${PREFIX}:${owner}:`;
    this.told = told;
    this.state = state;
    this.waiting = this.#left();
    this.busy = false;
    if (this.waiting.length) this.#go();
  }

  // `make` gives the decision when it is its turn, so that it knows what the ones before it came to.
  add(make) {
    this.waiting.push({ make });
    return this.#go();
  }

  get open() {
    return this.waiting.length > 0;
  }

  async #go() {
    if (this.busy) return;
    this.busy = true;
    while (this.waiting.length) {
      const first = this.waiting[0];
      first.body ??= first.make();
      if (first.body !== null && !(await this.#send(first))) break;
      this.waiting.shift();
      this.#keep();
    }
    this.busy = false;
  }

  async #send(first) {
    this.state("saving");
    if (!first.kept) this.#keep(); // once, since another page may have taken and sent it by now
    first.kept = true;
    let answer;
    try {
      const headers = { "Content-Type": "application/json" };
      answer = await ask("decision", { method: "POST", headers, body: JSON.stringify(first.body) });
    } catch {
      this.state("The server does not answer. Start it again; what is not saved is kept in this browser and sent then.");
      setTimeout(() => this.#go(), AGAIN);
      return false;
    }
    if (answer.status === 403 || answer.status >= 500) {
      const gone = "The server was started again: open its new address, and what is not saved is sent from there.";
      this.state(answer.status === 403 ? gone : answer.body.message);
      setTimeout(() => this.#go(), AGAIN);
      return false;
    }
    this.state("saved");
    this.told(first.body, answer);
    return true;
  }

  #keep() {
    const bodies = this.waiting.map((each) => each.body).filter(Boolean);
    for (const name of this.taken ?? []) localStorage.removeItem(name);
    this.taken = [];
    try {
      if (bodies.length) localStorage.setItem(this.owner + this.tab, JSON.stringify(bodies));
      else localStorage.removeItem(this.owner + this.tab);
    } catch {
      // The browser's room is full: they are in the page.
    }
  }

  // What pages before this one could not save.
  #left() {
    this.taken = Object.keys(localStorage).filter((name) => name.startsWith(this.owner));
    const bodies = this.taken.flatMap((name) => {
      try {
        return JSON.parse(localStorage.getItem(name));
      } catch {
        return [];
      }
    });
    return bodies.map((body) => ({ body }));
  }
}

// Text that is being written in a field, so that it outlives the page.
export class Drafts {
  constructor(owner) {
    this.owner = `${PREFIX}-text:${owner}:`;
  }

  #name(task, field) {
    return this.owner + JSON.stringify([task, field]);
  }

  get(task, field) {
    return localStorage.getItem(this.#name(task, field));
  }

  set(task, field, text) {
    try {
      localStorage.setItem(this.#name(task, field), text);
    } catch {
      // The browser's room is full: the text is in the page.
    }
  }

  drop(task, field) {
    localStorage.removeItem(this.#name(task, field));
  }
}
