// Sorts and filters the record's table. Without it the table is complete and in the order of the files.
for (const table of document.querySelectorAll(".record-table")) {
  const body = table.tBodies[0], rows = [...body.rows];
  const key = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
  const compared = (a, b) => {
    const x = parseFloat(a.replace(/^\D*?(?=[\d.])/, "")), y = parseFloat(b.replace(/^\D*?(?=[\d.])/, ""));
    const numbers = /^[a-z ]*[\d[.]/.test(a) && /^[a-z ]*[\d[.]/.test(b) && !isNaN(x) && !isNaN(y);
    if (a === "" || b === "") return (a === "") - (b === "");
    return numbers ? x - y : a.localeCompare(b);
  };
  [...table.tHead.rows[0].cells].forEach((head, column) => head.addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    rows.sort((a, b) => (up ? 1 : -1) * compared(key(a, column), key(b, column)));
    body.append(...rows);
  }));
  const form = table.parentElement.querySelector(".record-filters");
  if (!form) continue;
  form.hidden = false;
  const shown = () => {
    const asked = new FormData(form), words = asked.get("text").toLowerCase();
    let count = 0;
    for (const row of rows) {
      const fits = ["verdict", "kind", "year", "unit", "notion", "factor"].every(name => !asked.get(name) || row.dataset[name] === asked.get(name));
      row.hidden = !(fits && row.textContent.toLowerCase().includes(words));
      count += !row.hidden;
    }
    form.querySelector("output").textContent = `${count} of ${rows.length}`;
  };
  form.addEventListener("input", shown);
  form.addEventListener("submit", event => event.preventDefault());
  shown();
}
