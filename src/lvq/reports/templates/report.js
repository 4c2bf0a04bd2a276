"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const read = (id) => JSON.parse(byId(id).textContent);
  const data = read("data"), charts = read("charts"), views = {};
  const { rejection, points, prototypes, classes, variables } = data;
  const slider = byId("position"), only = byId("only"), sample = byId("sample");
  const order = points.true.map((_, k) => k).sort((a, b) => points.certainty[a] - points.certainty[b] || a - b);
  let selected = null;

  // -- text of numbers, as in text.py ---------------------------------------------------------------------------

  const percent = (fraction) =>
    fraction === null ? "–" : `${(100 * fraction).toFixed(fraction >= 0.9995 && fraction < 1 ? 2 : 1)} %`;
  const number = (value) =>
    value === null ? "–" : Math.abs(value) >= 1000 && Math.abs(value) < 1e7 ? value.toFixed(0) : String(Number(value.toPrecision(4)));
  const count = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, " ");
  const shown = (value) => (typeof value === "string" ? shortened(value) : number(value));
  const signedPercent = (fraction) => {
    const size = Math.abs(100 * fraction).toFixed(0);
    return `${size === "0" ? "" : fraction < 0 ? "−" : "+"}${size} %`;
  };
  const thresholdText = (threshold) => (threshold === null ? "" : `threshold ${number(threshold)}`);

  // -- operating points ---------------------------------------------------------------------------------------------------

  const position = () => Number(slider.value);
  const accepted = (k, at) => points.toggles[k].filter((change) => change <= at).length % 2 === 0;
  const rows = (at) => points.true.map((_, k) => ({
    key: `s${k}`, x: points.x[k], y: points.y[k], true: points.true[k], predicted: points.predicted[k],
    accepted: accepted(k, at), faded: only.value !== "" && points.true[k] !== Number(only.value),
  }));
  const curvePoint = (at) =>
    rejection.accuracy[at] === null ? [] : [{ coverage: rejection.coverage[at], accuracy: rejection.accuracy[at] }];

  function showNumbers(at) {
    const nAccepted = rejection.n_accepted[at], wrong = rejection.n_errors[at], nRejected = data.n_samples - nAccepted;
    byId("coverage").textContent = percent(rejection.coverage[at]);
    byId("n-accepted").textContent = `${count(nAccepted)} of ${count(data.n_samples)}`;
    byId("accuracy").textContent = percent(rejection.accuracy[at]);
    byId("n-errors").textContent = `${count(wrong)} wrong`;
    byId("n-rejected").textContent = count(nRejected);
    byId("threshold").textContent = thresholdText(rejection.threshold[at]);
    const status = `${count(nAccepted)} of ${count(data.n_samples)} predictions accepted (${percent(rejection.coverage[at])}), ` +
      `${count(wrong)} of them wrong (accuracy ${percent(rejection.accuracy[at])}), ${count(nRejected)} rejected`;
    byId("status").textContent = status;
    slider.setAttribute("aria-valuetext", status);
  }

  function showCounts(at) {
    for (const cell of document.querySelectorAll("#confusion td[data-row]")) {
      const row = rejection.confusion[at][cell.dataset.row], number = row[cell.dataset.column];
      cell.textContent = count(number);
      cell.style.setProperty("--fraction", number / Math.max(1, row.reduce((sum, each) => sum + each, 0)));
    }
  }

  function showCharts(at) {
    if (views.map) views.map.data("points", rows(at)).run();
    if (views.curve) views.curve.data("selected", curvePoint(at)).run();
  }

  function move() {
    const at = position();
    showNumbers(at);
    showCounts(at);
    showCharts(at);
    if (selected !== null) showLines(byId("detail"), describe(selected));
  }

  // -- text of samples and prototypes -------------------------------------------------------------------------------------

  const shortened = (name) => (name.length <= 40 ? name : `${name.slice(0, 39)}…`);
  const prototype = (j) => `P${j + 1} (${shortened(prototypes.name[j])})`;

  function describe(key) {
    const k = Number(key.slice(1));
    if (key[0] === "p") return [`Prototype ${prototype(k)}`, `class ${classes[prototypes.label[k]]}`];
    const correct = points.true[k] === points.predicted[k];
    return [
      `Sample ${points.name[k]}: ${classes[points.predicted[k]]}`,
      correct ? "correct" : `wrong, true class: ${classes[points.true[k]]}`,
      `certainty ${number(points.certainty[k])}, ${accepted(k, position()) ? "accepted" : "rejected"} at this operating point`,
      `nearest prototype of this class ${prototype(points.winner[k])}; nearest of another class ${prototype(points.rival[k])}`,
      ...points.contributions[k].map(([variable, fraction, value, filled]) => `${shortened(variables[variable])} ${value !== null ? `= ${shown(value)}` : filled === undefined ? "missing" : `missing, filled with ${shown(filled)}`}: ${signedPercent(fraction)}`),
    ];
  }

  function showLines(element, lines) {
    element.replaceChildren(...lines.map((line) => {
      const paragraph = document.createElement("p");
      paragraph.textContent = line;
      return paragraph;
    }));
  }

  function tooltip(_handler, event, _item, value) {
    const box = byId("tooltip");
    box.hidden = value === null || value === undefined || value === "";
    if (box.hidden) return;
    showLines(box, typeof value === "object" ? Object.entries(value).map(([name, text]) => `${name}: ${text}`) : describe(value));
    const { width, height } = box.getBoundingClientRect();
    const left = Math.min(event.clientX + 14, window.innerWidth - width - 8);
    const top = event.clientY + 14 + height > window.innerHeight ? event.clientY - height - 14 : event.clientY + 14;
    box.style.left = `${Math.max(8, left)}px`;
    box.style.top = `${Math.max(8, top)}px`;
  }

  function select(key) {
    selected = key;
    const k = Number(key.slice(1)), table = key[0] === "p" ? prototypes : points;
    if (key[0] === "s") sample.value = String(order.indexOf(k) + 1);
    showLines(byId("detail"), describe(key));
    if (views.map) views.map.data("selected", [{ x: table.x[k], y: table.y[k] }]).run();
  }

  // -- drawing ------------------------------------------------------------------------------------------------------------

  function reduceSize(name, spec) {
    if (name !== "map") return;
    spec.layer[1].mark.size = 24;
    spec.layer[2].layer[0].mark.size = 130;
    for (const { mark } of spec.layer[2].layer.slice(1)) Object.assign(mark, { fontSize: 10, dx: mark.dx * 0.65, dy: mark.dy * 0.65 });
  }

  async function draw(element) {
    const name = element.dataset.chart, spec = charts[name];
    if (!spec) return;
    if (name === "map") spec.datasets.points = rows(position());
    if (name === "curve") spec.datasets.selected = curvePoint(position());
    if (element.clientWidth < 420) reduceSize(name, spec);
    const options = { mode: "vega-lite", renderer: "svg", actions: false, ast: true, tooltip };
    const { view } = await window.vegaEmbed(element, spec, options);
    views[name] = view;
    if (name === "map") view.addEventListener("click", (_event, item) => item?.datum?.key && select(item.datum.key));
  }

  slider.addEventListener("input", move);
  for (const button of document.querySelectorAll("button[data-position]")) {
    button.addEventListener("click", () => { slider.value = button.dataset.position; move(); });
  }
  only.addEventListener("change", () => showCharts(position()));
  sample.addEventListener("input", () => {
    const k = order[Number(sample.value) - 1];
    if (k !== undefined) select(`s${k}`);
  });

  byId("print-summary").addEventListener("click", () => {
    document.documentElement.dataset.print = "summary";
    window.print();
    delete document.documentElement.dataset.print;
  });

  const theme = byId("theme"), dark = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
  const labelThemeButton = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
  theme.addEventListener("click", () => { document.documentElement.dataset.theme = isDark() ? "light" : "dark"; labelThemeButton(); });
  dark.addEventListener("change", labelThemeButton);
  labelThemeButton();

  // -- print: charts as wide as a column, so that text keeps its size; all details open -----------------------------------

  const PRINTED_WIDTH = 335;
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((each) => { each.open = true; });
    for (const [name, view] of Object.entries(views)) {
      if (name === "map") view.height(Math.max(250, (PRINTED_WIDTH * view.height()) / view.width()));
      view.width(PRINTED_WIDTH).run();
    }
  });
  window.addEventListener("afterprint", () => window.dispatchEvent(new Event("resize")));

  move();
  Promise.all([...document.querySelectorAll("[data-chart]")].map(draw)).then(() => {
    document.documentElement.dataset.ready = "true";
  });
})();
