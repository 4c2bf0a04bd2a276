"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  const { rejection, points, prototypes, classes } = data;
  const slider = byId("position"), only = byId("only"), sample = byId("sample");
  const order = points.true.map((_, k) => k).sort((a, b) => points.certainty[a] - points.certainty[b] || a - b);
  let selected = null;

  // -- text of numbers, as in text.py ---------------------------------------------------------------------------

  const percent = (fraction) =>
    fraction === null ? "–" : `${(100 * fraction).toFixed(fraction >= 0.9995 && fraction < 1 ? 2 : 1)} %`;
  const number = (value) =>
    value === null ? "–" : Math.abs(value) >= 1000 && Math.abs(value) < 1e7 ? value.toFixed(0) : String(Number(value.toPrecision(4)));
  const count = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, " ");
  const shortened = (name) => (name.length <= 40 ? name : `${name.slice(0, 39)}…`);

  // -- marks of the map: the k-th of a class in its group is the k-th sample of the class -------------------------

  const marks = { s: [], p: [] };
  function collect(kind, group, labels) {
    const groups = classes.map((_, label) => [...document.querySelectorAll(`#${group}${label} use`)]);
    const used = classes.map(() => 0);
    labels.forEach((label, k) => {
      const mark = groups[label][used[label]++];
      mark.dataset.key = `${kind}${k}`;
      marks[kind].push(mark);
    });
  }
  collect("s", "samples", points.true);
  collect("p", "prototypes", prototypes.label);

  // -- operating points -----------------------------------------------------------------------------------------

  const position = () => Number(slider.value);
  const accepted = (k, at) => points.toggles[k].filter((change) => change <= at).length % 2 === 0;

  function move() {
    const at = position(), nAccepted = rejection.n_accepted[at], nRejected = data.n_samples - nAccepted;
    const threshold = rejection.threshold[at], wrong = `${count(rejection.n_errors[at])} wrong`;
    byId("coverage").textContent = percent(rejection.coverage[at]);
    byId("n-accepted").textContent = `${count(nAccepted)} of ${count(data.n_samples)}`;
    byId("accuracy").textContent = percent(rejection.accuracy[at]);
    byId("n-errors").textContent = wrong;
    byId("n-rejected").textContent = count(nRejected);
    byId("threshold").textContent = threshold === null ? "" : `threshold ${number(threshold)}`;
    const status = `${count(nAccepted)} of ${count(data.n_samples)} predictions accepted (${percent(rejection.coverage[at])}), ` +
      `${wrong} (accuracy ${percent(rejection.accuracy[at])}), ${count(nRejected)} rejected`;
    byId("status").textContent = status;
    slider.setAttribute("aria-valuetext", status);
    for (const cell of document.querySelectorAll("#confusion td")) {
      const row = rejection.confusion[at][cell.dataset.row], own = row[cell.dataset.column];
      cell.textContent = count(own);
      cell.style.setProperty("--fraction", own / Math.max(1, row.reduce((sum, each) => sum + each, 0)));
    }
    for (const point of document.querySelectorAll("g[id^=point]")) point.classList.toggle("selected", point.id === `point${at}`);
    marks.s.forEach((mark, k) => mark.classList.toggle("rejected", !accepted(k, at)));
    if (selected !== null) showLines(byId("detail"), describe(selected));
  }

  // -- text of samples and prototypes -----------------------------------------------------------------------------

  const prototype = (j) => `P${j + 1} (${shortened(prototypes.name[j])})`;

  function describe(key) {
    const k = Number(key.slice(1));
    if (key[0] === "p") return [`Prototype ${prototype(k)}`, `class ${classes[prototypes.label[k]]}`];
    const correct = points.true[k] === points.predicted[k];
    return [
      `Sample ${points.name[k]}: ${classes[points.predicted[k]]}`,
      correct ? "correct" : `wrong, true class: ${classes[points.true[k]]}`,
      `certainty ${number(points.certainty[k])}, ${accepted(k, position()) ? "accepted" : "rejected"} at this position of the slider`,
      `nearest prototype of this class ${prototype(points.winner[k])}; nearest of another class ${prototype(points.rival[k])}`,
    ];
  }

  function showLines(element, lines) {
    element.replaceChildren(...lines.map((line) => {
      const paragraph = document.createElement("p");
      paragraph.textContent = line;
      return paragraph;
    }));
  }

  function showTooltip(event) {
    const box = byId("tooltip"), key = event.target.dataset?.key;
    box.hidden = key === undefined;
    if (box.hidden) return;
    showLines(box, describe(key));
    const { width, height } = box.getBoundingClientRect();
    const top = event.clientY + 14 + height > window.innerHeight ? event.clientY - height - 14 : event.clientY + 14;
    box.style.left = `${Math.max(8, Math.min(event.clientX + 14, window.innerWidth - width - 8))}px`;
    box.style.top = `${Math.max(8, top)}px`;
  }

  function select(key) {
    selected = key;
    if (key[0] === "s") sample.value = String(order.indexOf(Number(key.slice(1))) + 1);
    showLines(byId("detail"), describe(key));
    for (const mark of [...marks.s, ...marks.p]) mark.classList.toggle("selected", mark.dataset.key === key);
  }

  byId("map-chart").addEventListener("mousemove", showTooltip);
  byId("map-chart").addEventListener("mouseleave", () => { byId("tooltip").hidden = true; });
  byId("map-chart").addEventListener("click", (event) => event.target.dataset?.key && select(event.target.dataset.key));
  slider.addEventListener("input", move);
  for (const button of document.querySelectorAll("button[data-position]")) {
    button.addEventListener("click", () => { slider.value = button.dataset.position; move(); });
  }
  only.addEventListener("change", () => marks.s.forEach((mark, k) =>
    mark.classList.toggle("faded", only.value !== "" && points.true[k] !== Number(only.value))));
  sample.addEventListener("input", () => {
    const k = order[Number(sample.value) - 1];
    if (k !== undefined) select(`s${k}`);
  });

  // -- print and theme --------------------------------------------------------------------------------------------

  byId("print-summary").addEventListener("click", () => {
    document.documentElement.dataset.print = "summary";
    window.print();
    delete document.documentElement.dataset.print;
  });
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((each) => { each.open = true; });
  });
  const theme = byId("theme"), dark = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
  const labelThemeButton = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
  theme.addEventListener("click", () => { document.documentElement.dataset.theme = isDark() ? "light" : "dark"; labelThemeButton(); });
  dark.addEventListener("change", labelThemeButton);
  labelThemeButton();
  move();
  document.documentElement.dataset.ready = "true";
})();
