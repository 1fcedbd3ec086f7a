"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const table = document.getElementById("task-table");
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);

  const key = (row, column) => row.cells[column].dataset.order ?? row.cells[column].textContent.trim();
  const compare = (a, b) => {
    const x = Number(a), y = Number(b);
    return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b, undefined, { numeric: true }) : x - y;
  };
  for (const button of table.tHead.querySelectorAll("button")) {
    button.addEventListener("click", () => {
      const head = button.closest("th");
      const direction = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
      const column = head.cellIndex;
      const sorted = rows.slice().sort((a, b) => direction * compare(key(a, column), key(b, column)));
      body.append(...sorted);
    });
  }

  const filter = document.getElementById("filter");
  const shown = document.getElementById("shown");
  const update = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      if (!row.hidden) count += 1;
    }
    shown.textContent = `${count} of ${rows.length} shown`;
  };
  filter.addEventListener("input", update);
  update();

  const tasks = Array.from(document.querySelectorAll("details.task"));
  document.getElementById("open-all").addEventListener("click", () => tasks.forEach((t) => { t.open = true; }));
  document.getElementById("close-all").addEventListener("click", () => tasks.forEach((t) => { t.open = false; }));
  const follow = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (target && target.matches("details.task")) {
      target.open = true;
      target.scrollIntoView();
      target.querySelector("summary").focus({ preventScroll: true });
    }
  };
  addEventListener("hashchange", follow);
  follow();
})();
