"use strict";
(() => {
  document.documentElement.classList.add("js");
  const key = (row, column) => row.cells[column].dataset.order ?? row.cells[column].textContent.trim();
  const compare = (a, b) => {
    const x = Number(a), y = Number(b);
    return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b, undefined, { numeric: true }) : x - y;
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    for (const button of table.tHead.querySelectorAll("button")) {
      button.addEventListener("click", () => {
        const head = button.closest("th");
        const number = head.dataset.first === "descending";
        const before = head.getAttribute("aria-sort");
        const next = before === null ? (number ? "descending" : "ascending")
          : before === "ascending" ? "descending" : "ascending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", next);
        const direction = next === "ascending" ? 1 : -1;
        const rows = Array.from(table.tBodies[0].rows);
        rows.sort((a, b) => direction * compare(key(a, head.cellIndex), key(b, head.cellIndex)));
        table.tBodies[0].append(...rows);
      });
    }
  }
  for (const select of document.querySelectorAll("select.metric-choice")) {
    const choices = document.querySelectorAll(`#${select.dataset.within} .choice`);
    const show = () => {
      for (const each of choices) each.classList.toggle("chosen", each.dataset.metric === select.value);
    };
    select.addEventListener("change", show);
    show();
  }
  for (const input of document.querySelectorAll("input.filter")) {
    const rows = Array.from(document.getElementById(input.dataset.table).tBodies[0].rows);
    const only = document.getElementById(input.dataset.only);
    const shown = document.getElementById(input.dataset.shown);
    const update = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let count = 0;
      for (const row of rows) {
        const text = (row.dataset.words ?? "").toLowerCase();
        const fits = only.value === "" || row.dataset.passed === only.value;
        row.hidden = !(fits && words.every((word) => text.includes(word)));
        if (!row.hidden) count += 1;
      }
      shown.textContent = `${count} of ${rows.length} tasks shown`;
    };
    input.addEventListener("input", update);
    only.addEventListener("change", update);
    update();
  }
})();
