"use strict";
// a field named like a property of forms would hide it: none is called dataset, elements or name
for (const form of document.querySelectorAll("form[data-list]")) {
  const list = document.getElementById(form.getAttribute("data-list"));
  const rows = Array.from(list.children, (row) => ({ row, text: row.textContent.toLowerCase(), data: row.dataset }));
  const show = () => {
    const wanted = new FormData(form);
    const words = String(wanted.get("text")).toLowerCase().split(/\s+/).filter(Boolean);
    const fields = ["words", "of", "pair"].filter((name) => wanted.get(name));
    let count = 0;
    for (const { row, text, data } of rows) {
      row.hidden = !(words.every((word) => text.includes(word)) && fields.every((name) => data[name] === wanted.get(name)));
      count += row.hidden ? 0 : 1;
    }
    form.querySelector("output").textContent = count + " of " + rows.length;
  };
  const sort = () => {
    const key = new FormData(form).get("order");
    const sign = key === "at" ? 1 : -1;
    rows.sort((one, other) => sign * (Number(one.data[key]) - Number(other.data[key])));
    list.append(...rows.map(({ row }) => row));
  };
  form.addEventListener("input", show);
  form.elements.order.addEventListener("change", sort);
  form.addEventListener("submit", (event) => event.preventDefault());
  show();
}
