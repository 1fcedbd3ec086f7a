// What stands beside the fields: the paper's pages, the repository's lines, what an attempt handed in and did.

import { ask } from "./saving.js";
import { button, make, show } from "./texts.js";

const AROUND = 60;
const $ = (id) => document.getElementById(id);

function fill(id, ...children) {
  $(id).replaceChildren(...children);
}

function toView(element) {
  element?.scrollIntoView({ block: "center" });
}

export class Panes {
  constructor(overview) {
    this.pages = overview.pages;
    this.isRun = overview.kind === "run";
    this.zoom = 1;
    this.asked = 0;
    if (this.isRun) {
      for (const id of ["left-h", "to-left"]) show($(id), id === "to-left" ? "Work" : "What was handed in");
      for (const id of ["middle-h", "to-middle"]) show($(id), id === "to-middle" ? "Task" : "Task and trajectory");
    }
  }

  task(task) {
    this.current = task;
    if (this.isRun) {
      this.part = "";
      this.#parts();
      this.#aside();
    } else {
      this.turnTo(this.pages[0]?.number ?? 1, []);
      this.#noCode("Choose lines among a field's evidence.");
    }
  }

  // Everything that a field rests on; `chosen` is the piece that is to be seen.
  field(field, chosen, look) {
    const evidence = [...field.evidence, ...(field.shown?.evidence ?? [])];
    if (this.isRun) return this.#runField(field, evidence, chosen, look);
    const first = (fits) => (chosen ? (fits(chosen) ? chosen : undefined) : evidence.find(fits));
    const passage = first((each) => each.page !== null);
    if (passage) {
      const boxes = evidence.filter((each) => each.page === passage.page && each.box);
      if (look) this.switchTo("left");
      this.turnTo(passage.page, boxes, passage);
    }
    const span = first((each) => each.path);
    if (span) {
      if (look) this.switchTo("middle");
      this.code(span.path, span.start, span.end, span.start - AROUND, span.end + AROUND);
    }
  }

  switchTo(pane) {
    document.body.dataset.pane = pane;
    for (const each of document.querySelectorAll(".switch button")) {
      each.setAttribute("aria-pressed", String(each.dataset.pane === pane));
    }
  }

  turnTo(number, boxes, now) {
    const at = this.pages.findIndex((page) => page.number === number);
    if (at < 0) {
      const why = this.pages.length ? `The paper has no page ${number}.` : "The paper has not been read.";
      fill("left-body", make("p", { name: "muted", text: why }));
      return;
    }
    const page = this.pages[at];
    const go = (step) => this.turnTo(this.pages[at + step].number, []);
    this.again = () => this.turnTo(number, boxes, now);
    const enter = (event) => this.turnTo(Number(event.target.value), []);
    fill(
      "left-tools",
      button("Previous", () => go(-1), { disabled: at === 0, "aria-label": "Previous page" }),
      make("label", { text: "Page", for: "page" }),
      make("input", { id: "page", type: "number", min: 1, max: this.pages.at(-1).number, value: number, on: { change: enter } }),
      make("span", { name: "muted", text: `of ${this.pages.length}` }),
      button("Next", () => go(1), { disabled: at === this.pages.length - 1, "aria-label": "Next page" }),
      button(`${100 * this.zoom} %`, () => this.enlarge(), { "aria-label": `Zoom: ${100 * this.zoom} %`, "aria-keyshortcuts": "z" }),
    );
    const sheet = this.#sheet(page, boxes, now);
    fill("left-body", sheet);
    const box = sheet.querySelector(".spot.now");
    if (box) toView(box);
    else $("left").scrollTop = 0;
  }

  enlarge() {
    if (this.isRun) return;
    this.zoom = this.zoom >= 2 ? 1 : this.zoom + 0.5;
    this.again?.();
  }

  #sheet(page, boxes, now) {
    if (!page.picture) return make("pre", { name: "pagetext", text: page.text || "Nothing was read on this page." });
    const sheet = make("div", { name: "sheet" });
    sheet.style.width = `${100 * this.zoom}%`;
    sheet.style.aspectRatio = `${page.width} / ${page.height}`;
    sheet.append(make("img", { src: `page/${page.number}.png`, alt: `Page ${page.number} of the paper` }));
    for (const each of boxes) {
      const box = make("div", { name: each === now ? "spot now" : "spot", "aria-hidden": "true" });
      const share = (length, whole) => `${(100 * length) / whole}%`;
      box.style.left = share(each.box.x0, page.width);
      box.style.top = share(each.box.y0, page.height);
      box.style.width = share(each.box.x1 - each.box.x0, page.width);
      box.style.height = share(each.box.y1 - each.box.y0, page.height);
      sheet.append(box);
    }
    return sheet;
  }

  #noCode(why) {
    this.asked += 1;
    fill("middle-tools");
    fill("middle-body", make("p", { name: "muted", text: why }));
  }

  async code(path, start, end, first, last) {
    const asked = (this.asked += 1);
    first = Math.max(1, first);
    const query = new URLSearchParams({ path, first, last });
    const { body } = await ask(`lines?${query}`).catch(() => ({ body: { problem: "The server does not answer." } }));
    if (asked !== this.asked) return;
    const name = make("b", { name: "path", text: `${path}:${start}–${end}` });
    if (body.problem || body.message) {
      fill("middle-tools", name);
      fill("middle-body", make("p", { name: "problem", text: body.problem || body.message }));
      return;
    }
    const shown = body.first + body.lines.length - 1;
    const more = (text, from, to) => button(text, () => this.code(path, start, end, from, to));
    fill(
      "middle-tools",
      name,
      body.first > 1 ? more("Earlier lines", first - 200, last) : "",
      shown < body.total ? more("Later lines", first, last + 200) : "",
    );
    const rows = body.lines.map((text, index) => {
      const number = body.first + index;
      const marked = number >= start && number <= end;
      const row = make("span", { name: marked ? "line marked" : "line" });
      row.append(make("span", { name: "no", text: number, "aria-hidden": "true" }), make("code", { text: `${text}\n` }));
      return row;
    });
    fill("middle-body", make("pre", { name: "code", "aria-label": `${path}, lines ${body.first} to ${shown}` }, ...rows));
    toView(document.querySelector("#middle-body .marked"));
  }

  // --- a run --------------------------------------------------------------------------------------

  #runField(field, evidence, chosen, look) {
    const wanted = chosen ?? evidence.findLast((each) => each.part && each.end) ?? evidence[0];
    if (wanted?.part) {
      this.part = wanted.part;
      if (look) this.switchTo("left");
      this.#parts(wanted.end ? wanted : undefined);
    }
    if (wanted && wanted.turn !== null) {
      if (look) this.switchTo("middle");
      this.#turns(wanted.turn, wanted.quote);
    } else {
      this.#aside(field.code);
    }
  }

  #parts(mark) {
    const parts = Object.entries(this.current.parts).filter(([, text]) => text);
    if (!parts.length) {
      fill("left-tools");
      fill("left-body", make("p", { name: "muted", text: "Nothing was handed in." }));
      return;
    }
    const [name, text] = parts.find(([each]) => each === this.part) ?? parts[0];
    const open = (each) => () => {
      this.part = each;
      this.#parts();
    };
    fill("left-tools", ...parts.map(([each]) => button(each, open(each), { "aria-pressed": String(each === name) })));
    const body = make("pre", { name: "handed" });
    if (mark) {
      body.append(
        make("span", { text: text.slice(0, mark.start) }),
        make("mark", { text: text.slice(mark.start, mark.end) }),
        make("span", { text: text.slice(mark.end) }),
      );
    } else {
      show(body, text);
    }
    fill("left-body", body);
    toView(body.querySelector("mark"));
  }

  #aside(code) {
    this.asked += 1;
    fill("middle-tools");
    const parts = Object.entries(this.current.aside).flatMap(([name, text]) => [
      make("h3", { text: name }),
      make("div", { name: "text", text }),
    ]);
    if (code) parts.push(make("h3", { text: "The authors' code" }), make("pre", { name: "handed", text: code }));
    fill("middle-body", ...parts);
  }

  async #turns(at, quote) {
    const asked = (this.asked += 1);
    const query = new URLSearchParams({ id: this.current.id, at });
    const { body } = await ask(`turns?${query}`).catch(() => ({ body: [] }));
    if (asked !== this.asked) return;
    const go = (step) => () => this.#turns(Math.max(0, at + step), quote);
    const last = body.at(-1)?.[0] ?? 0;
    fill(
      "middle-tools",
      button("Earlier turns", go(-5), { disabled: at === 0 }),
      make("span", { name: "muted", text: body.length ? `turns ${body[0][0]} – ${last}` : "" }),
      button("Later turns", go(5), { disabled: last <= at + 1 }),
    );
    const rows = body.map(([number, text]) => {
      const place = quote ? text.indexOf(quote) : -1;
      const pre = make("pre", { name: "handed" });
      if (place < 0) show(pre, text);
      else
        pre.append(
          make("span", { text: text.slice(0, place) }),
          make("mark", { text: quote }),
          make("span", { text: text.slice(place + quote.length) }),
        );
      return make("div", {}, make("h3", { text: `Turn ${number}` }), pre);
    });
    fill("middle-body", ...(rows.length ? rows : [make("p", { name: "muted", text: "The trajectory cannot be read." })]));
    toView(document.querySelector("#middle-body mark"));
  }
}
