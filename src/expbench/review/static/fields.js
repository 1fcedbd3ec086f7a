// The fields of a task: one card for each, a page of them at a time, and the forms to fix or reject one.

import { button, make, show, valueOf } from "./texts.js";

const AT_ONCE = 40;
const WORDS = { accept: "accepted", fix: "fixed", reject: "rejected" };
const $ = (id) => document.getElementById(id);

export function wordOf(field) {
  const made = field.decision;
  if (!made) return "open";
  if (made.kind !== "label") return WORDS[made.kind];
  return field.choices.find(([name]) => name === made.value)?.[1] ?? String(made.value);
}

function pagesOf(evidence) {
  const words = evidence.quote ? ` “${evidence.quote.length > 160 ? `${evidence.quote.slice(0, 160)}…` : evidence.quote}”` : "";
  if (evidence.page !== null) return `Page ${evidence.page}${words}`;
  if (evidence.path) return `${evidence.path}:${evidence.start}–${evidence.end}`;
  if (evidence.turn !== null && !words) return "The trajectory";
  if (evidence.turn !== null) return `Turn ${evidence.turn}${words}`;
  if (evidence.part) return `${evidence.part}${words}`;
  return `not found in the submission:${words}`;
}

export class Fields {
  // `act(field, kind, value, reason)` decides; `look(field, evidence)` shows evidence.
  constructor(drafts, act, look) {
    this.drafts = drafts;
    this.act = act;
    this.look = look;
    this.cards = new Map();
    this.current = "";
    $("list").addEventListener("focusin", (event) => this.#focused(event));
  }

  task(task) {
    this.taskId = task.id;
    this.fields = task.fields;
    this.current = "";
    show($("task-h"), task.title || task.id);
    $("notes").replaceChildren(...task.notes.map((text) => make("p", { name: "note", text })));
    this.#page(0);
  }

  find(name) {
    return this.fields.find((field) => field.name === name);
  }

  get chosen() {
    return this.find(this.current);
  }

  // Move by so many fields from the current one.
  step(by) {
    const at = this.fields.findIndex((field) => field.name === this.current);
    const to = at < 0 ? (by > 0 ? 0 : this.fields.length - 1) : at + by;
    if (to >= 0 && to < this.fields.length) this.focus(this.fields[to].name);
  }

  // The next open field after one; false where none is left.
  next(name) {
    const at = this.fields.findIndex((field) => field.name === name);
    const order = [...this.fields.slice(at + 1), ...this.fields.slice(0, at + 1)];
    const open = order.find((field) => !field.decision);
    if (open) this.focus(open.name);
    return Boolean(open);
  }

  focus(name) {
    const at = this.fields.findIndex((field) => field.name === name);
    if (at < 0) return;
    if (!this.cards.has(name)) this.#page(Math.floor(at / AT_ONCE));
    const card = this.cards.get(name);
    card.focus({ preventScroll: true });
    this.#choose(name); // a window without the focus tells of no change of it
    card.scrollIntoView({ block: "nearest" });
  }

  // The field as the server has it now; an open form stays, with what is written in it.
  update(field) {
    this.fields = this.fields.map((each) => (each.name === field.name ? field : each));
    const card = this.cards.get(field.name);
    if (!card) return;
    const active = document.activeElement;
    const within = card.contains(active);
    const form = card.querySelector("form");
    const inForm = form?.contains(active);
    const fresh = this.#card(field);
    if (form) {
      fresh.querySelector(".acts").hidden = true;
      fresh.append(form);
    }
    card.replaceWith(fresh);
    this.cards.set(field.name, fresh);
    if (field.name === this.current) fresh.setAttribute("aria-current", "true");
    if (within) (inForm ? active : fresh).focus({ preventScroll: true });
  }

  #focused(event) {
    const card = event.target.closest("article");
    if (card) this.#choose(card.dataset.field);
  }

  #choose(name) {
    if (name === this.current) return;
    this.cards.get(this.current)?.removeAttribute("aria-current");
    this.current = name;
    this.cards.get(name).setAttribute("aria-current", "true");
    this.look(this.chosen);
  }

  #page(number) {
    const pages = Math.max(1, Math.ceil(this.fields.length / AT_ONCE));
    const own = this.fields.slice(number * AT_ONCE, (number + 1) * AT_ONCE);
    this.cards = new Map(own.map((field) => [field.name, this.#card(field)]));
    $("list").replaceChildren(...this.cards.values());
    $("fields").scrollTop = 0;
    const turn = (to) => () => {
      this.#page(to);
      this.focus(this.fields[to * AT_ONCE].name);
    };
    $("pager").replaceChildren(
      ...(pages > 1
        ? [
            button("Fields before", turn(number - 1), { disabled: number === 0 }),
            make("span", { name: "muted", text: `${number * AT_ONCE + 1} – ${number * AT_ONCE + own.length} of ${this.fields.length}` }),
            button("Fields after", turn(number + 1), { disabled: number === pages - 1 }),
          ]
        : []),
    );
  }

  #card(field) {
    const at = this.fields.findIndex((each) => each.name === field.name);
    const made = field.decision;
    const word = wordOf(field);
    const card = make(
      "article",
      { name: "field", tabindex: "-1", "aria-labelledby": `f${at}`, "data-field": field.name, "data-word": made?.kind === "label" ? made.value : (made?.kind ?? "open") },
      make(
        "header",
        {},
        make("h3", { id: `f${at}`, text: field.label }),
        make("span", { name: "word", text: word }),
        field.note ? make("span", { name: "small muted", text: field.note }) : null,
      ),
    );
    const fixed = made?.kind === "fix";
    const value = make("div", { name: "value" }, valueOf(fixed ? made.value : field.value));
    card.append(value);
    if (fixed) card.append(make("details", {}, make("summary", { text: "What it was" }), valueOf(field.value)));
    if (made?.reason) card.append(make("p", { name: "reason", text: `Reason: ${made.reason}` }));
    if (field.shown) card.append(this.#shown(field));
    card.append(this.#evidence(field, field.evidence), this.#acts(field));
    return card;
  }

  #shown(field) {
    const { state, reason, evidence } = field.shown;
    return make(
      "div",
      { name: "shown" },
      make("p", { text: `The judge: ${state.replace("_", " ")}${reason ? `. ${reason}` : ""}` }),
      this.#evidence(field, evidence),
    );
  }

  #evidence(field, evidence) {
    const items = evidence.map((each) => {
      const placed = each.page !== null || each.path || each.part || each.turn !== null;
      const inner = placed
        ? button(pagesOf(each), () => this.look(field, each), { name: "evidence" })
        : make("span", { name: "small", text: pagesOf(each) });
      return make("li", {}, inner);
    });
    const none = make("p", { name: "small muted", text: "No evidence." });
    const asks = field.kind !== "label";
    return items.length ? make("ul", { name: "places", "aria-label": "Evidence" }, ...items) : asks ? none : make("div");
  }

  #acts(field) {
    const named = (verb) => `${verb}: ${field.label}`;
    const acts = make("div", { name: "acts" });
    if (field.kind === "label") {
      const few = field.choices.length > 3 ? [field.choices[0], field.choices.at(-1)] : field.choices;
      for (const [value, text] of few) {
        const pressed = String(field.decision?.value === value);
        acts.append(button(text, () => this.act(field.name, "label", value, ""), { "aria-pressed": pressed, "data-act": value }));
      }
      acts.append(button(few === field.choices ? "Reason …" : "Choose …", () => this.open("fix"), { "data-act": "fix" }));
    } else {
      acts.append(
        button("Accept", () => this.act(field.name, "accept", null, ""), { "data-act": "accept", "aria-label": named("Accept") }),
        button("Fix …", () => this.open("fix"), { "data-act": "fix", "aria-label": named("Fix") }),
        button("Reject …", () => this.open("reject"), { "data-act": "reject", "aria-label": named("Reject") }),
      );
    }
    acts.append(button("Undo", () => this.act(field.name, "undo", null, ""), { disabled: !field.decision, "data-act": "undo", "aria-label": named("Undo") }));
    return acts;
  }

  // Open the form to fix or reject the current field.
  open(kind) {
    const field = this.chosen;
    const card = this.cards.get(this.current);
    if (!field || !card || card.querySelector("form")) return;
    if (field.kind === "label" && kind === "reject") return;
    card.querySelector(".acts").hidden = true;
    const form = field.kind === "label" ? this.#labelForm(field) : kind === "fix" ? this.#fixForm(field) : this.#rejectForm(field);
    form.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.#close(form);
      else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    card.append(form);
    form.querySelector("textarea, select, input").focus();
    form.scrollIntoView({ block: "nearest" });
  }

  #close(form) {
    const card = form.closest("article");
    form.remove();
    card.querySelector(".acts").hidden = false;
    this.drafts.drop(this.taskId, card.dataset.field);
    card.focus({ preventScroll: true });
  }

  // The server has taken what stood in a form.
  taken(name) {
    const form = this.cards.get(name)?.querySelector("form");
    if (form) this.#close(form);
    this.drafts.drop(this.taskId, name);
  }

  #form(submit, ...inner) {
    const problem = make("p", { name: "problem", role: "alert" });
    const form = make(
      "form",
      { name: "editor", on: { submit: (event) => {
        event.preventDefault();
        const why = submit();
        show(problem, why ?? "");
      } } },
      ...inner,
      problem,
      make("div", { name: "tools" }, make("button", { type: "submit", name: "plain", text: "Save" }), button("Cancel", () => this.#close(form))),
    );
    return form;
  }

  #fixForm(field) {
    const now = field.decision?.kind === "fix" ? field.decision.value : field.value;
    const written = { text: (v) => v, texts: (v) => v.join("\n"), json: (v) => JSON.stringify(v, null, 1) }[field.kind];
    const area = make("textarea", { id: "new-value", rows: 8, name: field.kind === "json" ? "code" : "", spellcheck: String(field.kind === "text") });
    area.value = written(now);
    const left = this.#left(field, area);
    area.addEventListener("input", () => this.drafts.set(this.taskId, field.name, area.value));
    const reason = make("input", { id: "why", type: "text", autocomplete: "off" });
    const how = { text: "New value", texts: "New values, one in each line", json: "New value, as JSON" }[field.kind];
    const submit = () => {
      let value = area.value;
      if (field.kind === "texts") value = value.split("\n").filter((line) => line.trim());
      if (field.kind === "json") {
        try {
          value = JSON.parse(value);
        } catch (error) {
          return `This is no JSON: ${error.message}`;
        }
      }
      this.act(field.name, "fix", value, reason.value);
    };
    return this.#form(
      submit,
      left,
      make("label", { for: "new-value", text: how }),
      area,
      make("label", { for: "why", text: "Reason (may be left out)" }),
      reason,
    );
  }

  // Text that was written here and never saved, by a page that ended or in another tab: offered, not put in.
  #left(field, area) {
    const text = this.drafts.get(this.taskId, field.name);
    if (text === null || text === area.value) return null;
    const take = () => {
      area.value = text;
      line.remove();
      area.focus();
    };
    const line = make("p", { name: "left", text: "Something was written here and not saved. " }, button("Take it up", take));
    return line;
  }

  #rejectForm(field) {
    const reason = make("input", { id: "why", type: "text", autocomplete: "off", required: true });
    const submit = () => {
      if (!reason.value.trim()) return "Say in a few words why.";
      this.act(field.name, "reject", null, reason.value);
    };
    return this.#form(submit, make("label", { for: "why", text: "Reason" }), reason);
  }

  #labelForm(field) {
    const select = make("select", { id: "new-value" }, ...field.choices.map(([value, text]) => make("option", { value, text })));
    if (field.decision) select.value = field.decision.value;
    const reason = make("input", { id: "why", type: "text", autocomplete: "off" });
    return this.#form(
      () => this.act(field.name, "label", select.value, reason.value),
      make("label", { for: "new-value", text: "Label" }),
      select,
      make("label", { for: "why", text: "Reason (may be left out)" }),
      reason,
    );
  }
}
