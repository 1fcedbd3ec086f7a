"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const at = (id) => document.getElementById(id);

  // --- dark or light ---
  const theme = at("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const paint = () => {
    theme.textContent = dark() ? "Light" : "Dark";
    theme.setAttribute("aria-pressed", String(dark()));
  };
  const toggle = () => {
    root.dataset.theme = dark() ? "light" : "dark";
    paint();
  };
  theme.addEventListener("click", toggle);
  system.addEventListener("change", paint);
  paint();

  // --- in a large page the bodies of attempts are compressed, and unpacked when they are wanted ---
  // What is unpacked was escaped by the same templates as the rest of the page.
  const unpacking = new Map();
  const inflate = async (held) => {
    const bytes = Uint8Array.from(atob(held.dataset.packed), (sign) => sign.charCodeAt(0));
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    held.innerHTML = await new Response(plain).text();
    delete held.dataset.packed;
  };
  const unpack = (attempt) => {
    const held = attempt.querySelector("[data-packed]");
    if (held !== null && !unpacking.has(held)) unpacking.set(held, inflate(held));
    return held === null ? undefined : unpacking.get(held);
  };

  // --- the table: sort ---
  const table = at("task-table");
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const key = (row, column) => row.cells[column].dataset.order ?? row.cells[column].textContent.trim();
  const collator = new Intl.Collator(undefined, { numeric: true });
  const compare = (a, b) => {
    const x = Number(a), y = Number(b);
    return Number.isNaN(x) || Number.isNaN(y) ? collator.compare(a, b) : x - y;
  };
  for (const button of table.tHead.querySelectorAll("button")) {
    button.addEventListener("click", () => {
      const head = button.closest("th");
      const direction = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
      const column = head.cellIndex;
      body.append(...rows.slice().sort((a, b) => direction * compare(key(a, column), key(b, column))));
    });
  }

  // --- the table: search and pick ---
  const anchor = (row) => row.querySelector("a").hash.slice(1);
  const filter = at("filter"), show = at("show"), deep = at("deep"), shown = at("shown");
  const texts = new Map();
  const read = async () => {
    for (const row of rows) {
      if (texts.has(row)) continue;
      await unpack(at(anchor(row)));
      texts.set(row, at(anchor(row)).textContent.toLowerCase());
    }
  };
  const update = async () => {
    if (deep.checked) await read();
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      const found = words.every((word) => text.includes(word) || (deep.checked && texts.get(row).includes(word)));
      row.hidden = !found || (show.value !== "" && !row.dataset.tags.split(" ").includes(show.value));
      if (!row.hidden) count += 1;
    }
    shown.textContent = `${count} of ${rows.length} shown`;
  };
  for (const input of [filter, show, deep]) input.addEventListener("input", update);
  update();

  // --- attempts ---
  const tasks = Array.from(document.querySelectorAll("details.task"));
  at("open-all").addEventListener("click", () => tasks.forEach((t) => { t.open = true; }));
  for (const task of tasks) task.addEventListener("toggle", () => { if (task.open) unpack(task); });
  at("close-all").addEventListener("click", () => tasks.forEach((t) => { t.open = false; }));
  let current = null;
  const enter = async (attempt) => {
    current = attempt;
    await unpack(attempt);
    attempt.open = true;
    attempt.scrollIntoView();
    attempt.querySelector("summary").focus({ preventScroll: true });
  };
  // A quotation may stand in several pieces, where others overlap it.
  const quote = (target) => {
    for (const mark of document.querySelectorAll("mark.now")) mark.classList.remove("now");
    const name = /-([DICG]\d+)q$/.exec(target.id)?.[1];
    if (!name) return;
    for (const mark of current.querySelectorAll("mark")) {
      if (mark.dataset.of.split(" ").includes(name)) mark.classList.add("now");
    }
  };
  const follow = async () => {
    const name = location.hash.slice(1);
    const attempt = at(name.split("-")[0]);
    if (attempt?.matches("details.task")) await unpack(attempt);
    const target = name && (at(name) ?? attempt);
    if (!target) return;
    for (let outer = target; outer; outer = outer.parentElement) if (outer.matches("details")) outer.open = true;
    if (target.matches("details.task")) enter(target);
    else {
      current = target.closest("details.task") ?? current;
      quote(target);
      target.scrollIntoView({ block: target.matches("section") ? "start" : "center" });
    }
  };
  addEventListener("hashchange", follow);
  // A link to where one already is changes no address.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link && link.hash === location.hash) follow();
  });
  follow();

  const step = (by) => {
    const order = Array.from(body.rows).filter((row) => !row.hidden).map((row) => at(anchor(row)));
    const next = order[current === null ? 0 : order.indexOf(current) + by];
    if (!next) return;
    if (current !== null) current.open = false;
    history.replaceState(null, "", `#${next.id}`);
    enter(next);
  };
  const leave = () => {
    if (current === null) return;
    const left = current;
    current = null;
    left.open = false;
    history.replaceState(null, "", "#tasks");
    const link = rows.find((row) => anchor(row) === left.id).querySelector("a");
    link.scrollIntoView({ block: "center" });
    link.focus({ preventScroll: true });
  };

  // --- keyboard ---
  const keys = { j: () => step(1), k: () => step(-1), d: toggle, Escape: leave };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.target.matches("input, select, textarea")) {
      if (event.key === "Escape" && event.target === filter) {
        filter.value = "";
        update();
        filter.blur();
      }
      return;
    }
    if (event.key === "/") {
      event.preventDefault();
      filter.scrollIntoView({ block: "center" });
      filter.focus({ preventScroll: true });
    } else if (Object.hasOwn(keys, event.key)) {
      keys[event.key]();
    }
  });
})();
