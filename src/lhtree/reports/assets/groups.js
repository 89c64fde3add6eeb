// Results by group of rows: a table per column, whose cells show values with their 95 % intervals.

import { count, draw, el, find, format, percent, table } from "./draw.js";

const SHOWN = {
  selection_rate: "predicted", true_positive_rate: "true positive rate", false_positive_rate: "false positive rate",
  rate: "actual share", calibration: "probability − share", accuracy: "accuracy",
  actual: "mean response", mean_error: "mean error", rmse: "RMSE",
};
const WIDTH = 120;

export function showGroups(groups, where) {
  if (!groups) return;
  const names = [...new Set(groups.scores.map((one) => one.measure))].filter((name) => name in SHOWN);
  const about = groups.positive === null ? "" : ` “Predicted” is the share of rows predicted as ${groups.positive}; rates are about this class.`;
  find("groups-hint").append(`Measured on the ${where}. Bars are 95\u00a0% intervals, the line is the value of the reference group.${about}`);
  for (const [by, reference] of Object.entries(groups.reference)) {
    const own = groups.scores.filter((one) => one.by === by);
    const of = (measure) => own.filter((one) => one.measure === measure);
    const rows = of(names[0]).map(({ group, n_rows: n, is_small: isSmall }) => [
      group === reference ? `${group} (reference)` : group,
      `${format(n, 7)}${isSmall ? " (few)" : ""}`,
      ...names.map((name) => el("td", {}, drawCell(of(name), group))),
    ]);
    find("groups-tables").append(el("figure", { class: "card" },
      el("figcaption", {}, `By ${by}`), table(["group", "rows", ...names.map((name) => SHOWN[name])], rows)));
  }
  find("groups").hidden = false;
  find("groups-link").hidden = false;
}

function drawCell(scores, group) {
  const score = scores.find((one) => one.group === group);
  if (score.value === null) return ["–"];
  const values = scores.flatMap((one) => [one.low, one.high, one.value]).filter((value) => value !== null);
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const at = (value) => 6 + ((value - low) / (high - low || 1)) * (WIDTH - 12);
  const reference = scores.find((one) => one.is_reference).value;
  const isShare = !["actual", "mean_error", "rmse"].includes(score.measure);
  const write = (value) => (isShare ? (value < 0 ? `−${percent(-value)}` : percent(value)) : format(value));
  const interval = score.low === null ? "" : `, 95 % interval ${write(score.low)} to ${write(score.high)}`;
  const svg = draw("svg", { viewBox: `0 0 ${WIDTH} 14`, role: "img", "aria-label": `${write(score.value)}${interval}`, class: "cell" },
    draw("title", {}, `${write(score.value)}${interval}; ${count(score.n_rows, "row")}`));
  if (reference !== null) svg.append(draw("line", { class: "even", x1: at(reference), x2: at(reference), y1: 0, y2: 14 }));
  if (score.low !== null) svg.append(draw("line", { class: "band", x1: at(score.low), x2: at(score.high), y1: 7, y2: 7 }));
  svg.append(draw("circle", { class: "dot", cx: at(score.value), cy: 7, r: 4 }));
  return [write(score.value), svg];
}
