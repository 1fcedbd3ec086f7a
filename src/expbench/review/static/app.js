// The page as a whole: which task is open, what the keys do, the clock, and what was saved.

import { Fields, wordOf } from "./fields.js";
import { Panes } from "./panes.js";
import { Drafts, Saver, ask } from "./saving.js";
import { button, clockText, make, show } from "./texts.js";

const IDLE = 60_000;
const TASKS_AT_ONCE = 50;
const $ = (id) => document.getElementById(id);

let overview;
let panes;
let fields;
let saver;
let at = -1;
const history = [];
let worked = new Map(); // seconds on each task since the last decision on it
const known = new Map(); // by task: its fields by name, as the server had them last

const task = () => overview.tasks[at];

function complain(text) {
  show($("alert-text"), text);
  $("alert").hidden = !text;
}

// --- the clock ---------------------------------------------------------------------------------------

let ticked = Date.now();
let touched = Date.now();

function tick() {
  const now = Date.now();
  const passed = Math.min((now - ticked) / 1000, 2);
  ticked = now;
  const idle = now - touched >= IDLE || document.hidden;
  if (at < 0) return;
  const id = task().id;
  if (!idle && passed > 0) worked.set(id, (worked.get(id) ?? 0) + passed);
  sessionStorage.setItem("expbench-review-worked", JSON.stringify([overview.owner, ...worked]));
  const own = task().seconds + (worked.get(id) ?? 0);
  const whole = overview.tasks.reduce((sum, each) => sum + each.seconds + (worked.get(each.id) ?? 0), 0);
  show($("clock"), `Task ${clockText(own)} · all ${clockText(whole)}${idle ? " · stands still" : ""}`);
}

for (const event of ["pointerdown", "pointermove", "keydown", "wheel", "input"]) {
  addEventListener(event, () => { touched = Date.now(); }, { passive: true, capture: true });
}

// --- saving ------------------------------------------------------------------------------------------

function saving(state) {
  const fine = state === "saved" || state === "saving";
  document.body.dataset.saving = fine ? state : "not saved";
  show($("saved"), fine ? (state === "saved" ? "Saved" : "Saving …") : `Not saved. ${state}`);
}

function decide(name, kind, value, reason) {
  const owner = task().id;
  saver.add(() => {
    const field = known.get(owner).get(name);
    if (!field || (kind === "undo" && !field.decision)) return null;
    if (kind === "label" && !reason && field.decision?.value === value) return null;
    const seconds = Math.round((worked.get(owner) ?? 0) * 10) / 10;
    return { draft: owner, field: name, kind, value, reason, seconds, tab: saver.tab, last: field.last, of: field.of };
  });
}

function told(asked, { status, body }) {
  const here = at >= 0 && task().id === asked.draft;
  const field = status === 200 ? body : body.field;
  const line = overview.tasks.find((each) => each.id === asked.draft);
  const before = known.get(asked.draft)?.get(asked.field);
  if (field) known.get(asked.draft)?.set(field.name, field);
  if (here && field) fields.update(field);
  if (field && line && before) line.decided += Number(Boolean(field.decision)) - Number(Boolean(before.decision));
  if (status !== 200) {
    complain(body.message);
    show($("saved"), "Not kept");
  } else {
    if (line) line.seconds += asked.seconds;
    worked.set(asked.draft, Math.max(0, (worked.get(asked.draft) ?? 0) - asked.seconds));
    if (asked.kind === "undo") remember(asked, false);
    else remember(asked, true);
    complain("");
    if (here) after(asked, field);
  }
  if (here) counted();
}

function remember(asked, made) {
  const last = history.findLastIndex((each) => each.draft === asked.draft && each.field === asked.field);
  if (made) history.push({ draft: asked.draft, field: asked.field });
  else if (last >= 0) history.splice(last, 1);
}

function after(asked, field) {
  const line = task();
  show($("saved"), `Saved: ${field.label} ${wordOf(field)}. ${line.decided} of ${line.total} decided.`);
  fields.taken(asked.field);
  if (fields.current === asked.field) {
    const stays = asked.kind === "undo" || field.shown;
    if (stays || !fields.next(asked.field)) fields.focus(asked.field);
    if (field.shown) panes.field(field);
  }
  const left = fields.fields.some((each) => !each.decision);
  if (!left) show($("saved"), `${$("saved").textContent} The task is done; n goes to the next.`);
}

function undo() {
  const chosen = fields.chosen;
  if (chosen?.decision) return decide(chosen.name, "undo", null, "");
  const last = history.findLast((each) => each.draft === task().id);
  if (!last) return;
  fields.focus(last.field);
  decide(last.field, "undo", null, "");
}

// --- tasks -------------------------------------------------------------------------------------------

function counted() {
  const line = task();
  const done = overview.tasks.filter((each) => each.decided >= each.total).length;
  show($("count"), `${line.decided} of ${line.total} fields, ${done} of ${overview.tasks.length} tasks`);
  $("progress").max = Math.max(1, line.total);
  $("progress").value = line.decided;
}

async function openTask(to, focus) {
  if (to < 0 || to >= overview.tasks.length) return;
  const id = overview.tasks[to].id;
  const { status, body } = await ask(`task?id=${encodeURIComponent(id)}`).catch(() => ({ status: 0, body: {} }));
  if (status !== 200) return complain(body.message ?? "The server does not answer: start it again.");
  at = to;
  complain("");
  window.history.replaceState(null, "", `#${encodeURIComponent(id)}`);
  known.set(id, new Map(body.fields.map((each) => [each.name, each])));
  panes.task(body);
  fields.task(body);
  task().decided = body.fields.filter((each) => each.decision).length;
  show($("choose"), `Task ${at + 1} of ${overview.tasks.length}`);
  $("previous").disabled = at === 0;
  $("next").disabled = at === overview.tasks.length - 1;
  counted();
  tick();
  if (focus) {
    const open = body.fields.find((each) => !each.decision) ?? body.fields[0];
    if (open) fields.focus(open.name);
  }
}

function listTasks(page = 0) {
  const wanted = $("find").value.toLowerCase();
  const found = overview.tasks
    .map((each, index) => ({ each, index }))
    .filter(({ each }) => `${each.id} ${each.title}`.toLowerCase().includes(wanted));
  const rows = found.slice(page * TASKS_AT_ONCE, (page + 1) * TASKS_AT_ONCE).map(({ each, index }) => {
    const text = `${each.id}: ${each.title.slice(0, 120)}`;
    const open = button(text, () => { $("tasks").close(); openTask(index, true); });
    return make("li", {}, open, make("span", { name: "small muted", text: ` ${each.decided} of ${each.total}` }));
  });
  $("tasks-list").replaceChildren(...rows);
  show($("tasks-count"), `${found.length} of ${overview.tasks.length}`);
  const last = Math.ceil(found.length / TASKS_AT_ONCE) - 1;
  $("tasks-pager").replaceChildren(
    ...(last > 0
      ? [
          button("Before", () => listTasks(page - 1), { disabled: page === 0 }),
          make("span", { name: "muted", text: `${page + 1} of ${last + 1}` }),
          button("After", () => listTasks(page + 1), { disabled: page === last }),
        ]
      : []),
  );
}

// --- keys --------------------------------------------------------------------------------------------

function keysOf(isRun) {
  const label = (index) => () => {
    const field = fields.chosen;
    const choice = field?.choices.length > 3 && index === 1 ? undefined : field?.choices.at(index);
    if (choice) decide(field.name, "label", choice[0], "");
  };
  const accept = () => fields.chosen && decide(fields.current, "accept", null, "");
  const own = isRun
    ? { a: ["met, right", label(0)], r: ["not met, wrong", label(1)], s: ["skip", label(-1)], f: ["label with a reason", () => fields.open("fix")] }
    : {
        a: ["accept", accept],
        f: ["fix", () => fields.open("fix")],
        r: ["reject", () => fields.open("reject")],
        z: ["zoom the page", () => panes.enlarge()],
      };
  return {
    j: ["next field", () => fields.step(1)],
    k: ["field before", () => fields.step(-1)],
    ...own,
    u: ["undo", undo],
    n: ["next task", () => openTask(at + 1, true)],
    p: ["task before", () => openTask(at - 1, true)],
    t: ["choose a task", () => $("choose").click()],
    "?": ["these keys", () => $("help").showModal()],
  };
}

function listen() {
  const keys = keysOf(overview.kind === "run");
  const rows = { ...keys, "Ctrl Enter": ["save a form"], Esc: ["close a form"] };
  $("help-list").replaceChildren(
    ...Object.entries(rows).flatMap(([key, [what]]) => [make("dt", {}, make("kbd", { text: key })), make("dd", { text: what })]),
  );
  const name = "expbench-review-keys";
  $("keys-on").checked = localStorage.getItem(name) !== "off";
  $("keys-on").addEventListener("change", () => localStorage.setItem(name, $("keys-on").checked ? "on" : "off"));
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.target.closest("input, textarea, select") || !$("keys-on").checked) return;
    const act = Object.hasOwn(keys, event.key) ? keys[event.key][1] : undefined;
    if (!act) return;
    event.preventDefault();
    act();
  });
  $("previous").addEventListener("click", () => openTask(at - 1, true));
  $("next").addEventListener("click", () => openTask(at + 1, true));
  $("keys").addEventListener("click", () => $("help").showModal());
  $("help-close").addEventListener("click", () => $("help").close());
  $("choose").addEventListener("click", () => { listTasks(); $("tasks").showModal(); $("find").focus(); });
  $("tasks-close").addEventListener("click", () => $("tasks").close());
  $("find").addEventListener("input", () => listTasks());
  $("alert-close").addEventListener("click", () => complain(""));
  for (const each of document.querySelectorAll(".switch button")) {
    each.addEventListener("click", () => {
      panes.switchTo(each.dataset.pane);
      if (each.dataset.pane === "fields" && fields.current) fields.focus(fields.current);
    });
  }
  addEventListener("beforeunload", (event) => { if (saver.open) event.preventDefault(); });
}

async function start() {
  const { status, body } = await ask("overview");
  if (status !== 200) return complain(body.message);
  overview = body;
  show($("kicker"), `Review by ${overview.reviewer}`);
  show($("title"), overview.title);
  document.title = `Review: ${document.getElementById("title").textContent}`;
  const owner = JSON.stringify([overview.owner, overview.reviewer]);
  const [whose, ...before] = JSON.parse(sessionStorage.getItem("expbench-review-worked") ?? "[]");
  if (whose === overview.owner) worked = new Map(before);
  panes = new Panes(overview);
  fields = new Fields(new Drafts(owner), decide, (field, chosen) => panes.field(field, chosen, Boolean(chosen)));
  panes.switchTo("fields");
  if (!overview.tasks.length) return complain("There is nothing to review yet.");
  saver = new Saver(owner, told, saving);
  listen();
  const wanted = decodeURIComponent(location.hash.slice(1));
  const first = overview.tasks.findIndex((each) => each.id === wanted);
  const open = overview.tasks.findIndex((each) => each.decided < each.total);
  await openTask(first >= 0 ? first : Math.max(0, open), true);
  setInterval(tick, 1000);
  document.body.dataset.ready = "yes";
}

start();
