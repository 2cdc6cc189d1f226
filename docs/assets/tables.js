// A long table can be filtered by a word. Without this script it is complete.
document$.subscribe(() => {
  for (const box of document.querySelectorAll(".long-table")) {
    if (box.previousElementSibling?.matches(".table-filter")) continue;
    const rows = [...box.querySelectorAll("tbody tr")];
    const input = Object.assign(document.createElement("input"), { type: "search", className: "table-filter" });
    input.placeholder = `Filter ${rows.length} rows by a word, such as false`;
    input.setAttribute("aria-label", "Filter the table");
    input.addEventListener("input", () => {
      for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(input.value.toLowerCase());
    });
    box.before(input);
  }
});
