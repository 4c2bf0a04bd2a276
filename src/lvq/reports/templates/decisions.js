"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent).decisions;
  if (!data) return;
  const slider = byId("decision"), chosen = byId("decision-class");
  const cells = [...document.querySelectorAll("#by-decision td[data-metric]")];
  const fitted = cells.map((cell) => cell.innerHTML);
  const total = data.totals.reduce((sum, count) => sum + count, 0);

  const percent = (fraction) =>
    fraction === null ? "–" : `${(100 * fraction).toFixed(fraction >= 0.9995 && fraction < 1 ? 2 : 1)} %`;
  const grouped = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, " ");
  const ratio = (count, of) => (of ? count / of : null);
  const factorText = (factor) => `${factor >= 1 ? Number(factor.toPrecision(3)) : `1/${Number((1 / factor).toPrecision(3))}`} times`;

  // counts of a class: [numerator, denominator] of each metric
  function counts(metric, k, correct, called) {
    const own = data.totals[k], others = total - own, alarms = called[k] - correct[k];
    if (metric === "sensitivity") return [correct[k], own];
    if (metric === "specificity") return [others - alarms, others];
    if (metric === "ppv") return [correct[k], called[k]];
    return [others - alarms, total - called[k]];
  }

  function move() {
    const moved = chosen ? Number(chosen.value) : 0, step = Number(slider.value), used = step === data.in_use;
    const correct = data.correct[moved][step], called = data.called[moved][step];
    const rates = data.totals.map((own, k) => ratio(correct[k], own)).filter((rate) => rate !== null);
    const accuracy = percent(ratio(correct.reduce((sum, count) => sum + count, 0), total));
    const balanced = percent(rates.reduce((sum, rate) => sum + rate, 0) / rates.length);
    const factor = data.factors[step];
    byId("decision-step").textContent = data.thresholds ? percent(data.thresholds[step]) : factorText(factor);
    byId("decision-note").textContent = used ? "in use" : `missing it costs ${factorText(factor)} what it costs in use`;
    byId("decision-accuracy").textContent = accuracy;
    byId("decision-balanced").textContent = balanced;
    if (byId("decision-cost")) byId("decision-cost").textContent = String(Number(data.cost[moved][step].toPrecision(3)));
    cells.forEach((cell, place) => {
      if (used) { cell.innerHTML = fitted[place]; return; }
      const [count, of] = counts(cell.dataset.metric, Number(cell.dataset.class), correct, called);
      cell.querySelector("span").textContent = percent(ratio(count, of));
      cell.querySelector("small").textContent = `${grouped(count)} of ${grouped(of)}`;
    });
    const status = `${byId("decision-step").textContent}: accuracy ${accuracy}, balanced accuracy ${balanced}`;
    byId("decision-status").textContent = status;
    slider.setAttribute("aria-valuetext", status);
  }

  slider.addEventListener("input", move);
  if (chosen) chosen.addEventListener("change", move);
  byId("decision-reset").addEventListener("click", () => { slider.value = String(data.in_use); move(); });
  window.addEventListener("beforeprint", () => { slider.value = String(data.in_use); move(); });
})();
