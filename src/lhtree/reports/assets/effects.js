// Importances of the columns, and effect curves: the contribution of a column over its values.

import { bars, brief, choose, count, cut, digitsBetween, draw, el, format, named, percent, renew, responsive, short, signed, table, unfold } from "./draw.js";
import { decodeArray } from "./model.js";

const FIRST_CURVES = 6;

export function showImportances(facts, model) {
  const { importance: gain, n_used: used } = facts.features;
  const of = (values, write) => facts.columns.map(({ name }, i) => ({ name, value: values[i], figure: write(values[i]) })).filter(({ value }) => value > 0).sort((a, b) => b.value - a.value);
  const place = el("div", {});
  const { unit } = model.head;
  const kinds = [
    ["Gain", () => {
      const rows = of(gain, percent);
      const [weak, unused] = [used - rows.length, facts.columns.length - used];
      return [
        rows.length ? bars(rows, { both: false, shown: 12 }) : el("p", {}, facts.response && facts.model.n_blocks === facts.model.n_trees ? "The tree is a single leaf: “Try a row” shows what its linear model uses." : "No column is more informative than chance."),
        el("p", { class: "note" }, `Share of the decrease ${model.head.gain}.`
          + (weak > 0 ? ` ${count(weak, "column is", "columns are")} used but cannot be distinguished from noise.` : "") + (unused ? ` ${count(unused, "column is", "columns are")} never used.` : "")),
      ];
    }],
    ["Contribution", () => [
      bars(of(facts.effects.importance, (value) => format(unit.factor * value, 3)), { both: false, shown: 12 }),
      el("p", { class: "note" }, `Mean size of the contribution to the ${facts.response ? "prediction" : "predicted class"} over ${count(facts.effects.n_rows, "row")}, in ${unit.name}: what the model uses on these rows.`),
    ]],
  ];
  const show = (i) => place.replaceChildren(...kinds[i][1]());
  show(0);
  return el("figure", { class: "card", id: "importances" }, el("figcaption", {}, "Importance of the columns"),
    el("div", { class: "controls" }, choose("Measured by", kinds.map(([name]) => name), 0, show)), place);
}

// The effect of a column on a class. With two classes, only the second is stored: the first mirrors it.
function effectOf(facts, unit, { labels, value, n_rows: n, density, ...stored }, cls) {
  const [two, all] = [facts.classes.length === 2, facts.classes.length];
  const width = two ? 1 : all;
  const sign = two && cls === 0 ? -1 : 1;
  const of = (name) => labels.map((_, i) => sign * unit.factor * decoded(stored, name)[i * width + (two ? 0 : cls)]);
  const [mean, low, high] = [of("mean"), of(sign < 0 ? "high" : "low"), of(sign < 0 ? "low" : "high")];
  return { labels, value, n, density, mean, low, high };
}
const decodedArrays = new WeakMap();
function decoded(stored, name) {
  if (!decodedArrays.has(stored[name])) decodedArrays.set(stored[name], decodeArray(stored[name]));
  return decodedArrays.get(stored[name]);
}

export function showEffects(facts, model) {
  const { columns, coverage, n_rows: rows, n_estimators: trees } = facts.effects;
  const many = facts.classes.length > 1;
  const { unit } = model.head;
  let cls = facts.classes.length === 2 ? 1 : 0;
  // All curves of a class have the same scale.
  const findTicks = () => {
    const all = columns.map((column) => effectOf(facts, unit, column, cls));
    const least = all.reduce((low, one) => Math.min(low, ...one.low, ...one.mean), 0);
    return roundTicks(least, all.reduce((high, one) => Math.max(high, ...one.high, ...one.mean), 0));
  };
  let ticks = findTicks();
  const title = el("h3", {});
  const rename = () => title.replaceChildren("Effects", ...(many ? [" on ", named(facts.classes[cls])] : []));
  rename();
  const make = (column) => el("figure", { class: "card effect" }, el("figcaption", {}, short(column.name, 60)),
    column.value ? drawCurve(facts, unit, column, cls, ticks) : drawCategories(facts, unit, column, cls, ticks));
  const grid = (some) => el("div", { class: "effects" }, some.map(make));
  const shown = columns.length <= FIRST_CURVES + 2 ? columns.length : FIRST_CURVES;
  const left = facts.columns.length - columns.length;
  const control = many ? choose("Contribution to", facts.classes, cls, (chosen) => {
    cls = chosen;
    ticks = findTicks();
    rename();
    paint();
  }) : null;
  const place = el("div", {});
  // With more than two classes, the order of the columns depends on the class.
  const sizeOf = ({ n, mean }) => mean.reduce((sum, value, i) => sum + n[i] * Math.abs(value), 0);
  function paint() {
    const sizes = new Map(columns.map((column) => [column, facts.classes.length > 2 ? sizeOf(effectOf(facts, unit, column, cls)) : 0]));
    const order = [...columns].sort((a, b) => sizes.get(b) - sizes.get(a));
    const rest = order.length > shown ? unfold(`${order.length - shown} more columns`, () => grid(order.slice(shown)), "more") : null;
    if (rest) rest.open = place.lastChild?.open ?? false;
    renew(place, grid(order.slice(0, shown)), rest);
  }
  paint();
  return el("div", { id: "effects" }, title,
    el("p", { class: "hint" }, `The mean contribution of a column over its values, in ${unit.name}. The band holds the middle ${percent(coverage)} of the rows: those with the same value differ, because a hyperplane adds up several columns. Grey: where the rows are. All charts have the same scale; they show ${count(rows, "row")}${trees < facts.model.n_estimators ? ` and the first ${trees} of ${facts.model.n_estimators} trees` : ""}.`),
    control ? el("div", { class: "controls" }, control) : null,
    place,
    left > 0 ? el("p", { class: "note" }, `${count(left, "less important column is", "less important columns are")} left out.`) : null);
}

// Round numbers from below the least to above the largest of two that have 0 between them.
export function roundTicks(low, high) {
  if (low === high) return [-1, 0, 1]; // nothing contributes
  const rough = (high - low) / 4 || 1;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].find((factor) => factor * unit >= rough) * unit;
  const from = Math.floor(low / step + 1e-9);
  return Array.from({ length: Math.ceil(high / step - 1e-9) - from + 1 }, (_, i) => (from + i) * step);
}

const tabulateEffect = ({ labels, n, mean, low, high }) => unfold("Show the data", () => table(["value", "rows", "mean", "from", "to"],
  labels.map((label, i) => [short(label, 30), format(n[i], 7), signed(mean[i]), signed(low[i]), signed(high[i])])));

function drawCurve(facts, unit, column, cls, ticks) {
  const [low, high] = [ticks[0], ticks.at(-1)];
  const effect = effectOf(facts, unit, column, cls);
  const values = column.value.filter((value) => value !== null);
  const hasGap = values.length < column.value.length;
  const [from, to] = values.length ? [values[0], values.at(-1)] : [0, 0];
  const place = el("div", {});
  responsive(place, (width) => {
    const [height, left, top, bottom, bars] = [206, 46, 24, 24, 26];
    const right = hasGap ? 58 : 12;
    const at = (value) => left + (to > from ? (value - from) / (to - from) : 0.5) * (width - left - right);
    const up = (y) => top + (1 - (y - low) / (high - low)) * (height - top - bottom - bars);
    const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Effect of ${column.name}: mean contribution from ${format(effect.mean[0], 3)} to ${format(effect.mean[values.length - 1] ?? effect.mean[0], 3)}.` });
    const digits = digitsBetween(from, to);
    svg.append(draw("text", { class: "unit", x: 0, y: 11 }, cut(unit.axis, 40)));
    for (const y of ticks) svg.append(draw("line", { class: y === 0 ? "zero" : "axis", x1: left, x2: width - 8, y1: up(y), y2: up(y) }), draw("text", { x: left - 6, y: up(y) + 4, "text-anchor": "end" }, brief(y)));
    const most = Math.max(...column.density, 1);
    const wide = (width - left - right) / column.density.length;
    column.density.forEach((n, i) => n && svg.append(draw("rect", { class: "rows", x: left + i * wide, width: Math.max(0.5, wide - 1), y: height - bottom - (bars * n) / most, height: (bars * n) / most })));
    const points = values.map((value, i) => [at(value), i]);
    const line = (ys) => points.map(([x, i]) => `${x} ${up(ys[i])}`);
    if (points.length > 1) svg.append(
      draw("path", { class: "interval", d: `M${[...line(effect.high), ...line(effect.low).reverse()].join("L")}Z` }),
      draw("path", { class: "line", d: `M${line(effect.mean).join("L")}` }));
    const lone = [...(points.length === 1 ? points : []), ...(hasGap ? [[width - 28, values.length]] : [])];
    for (const [x, i] of lone) svg.append(draw("line", { class: "band", x1: x, x2: x, y1: up(effect.low[i]), y2: up(effect.high[i]) }));
    for (const [x, i] of [...points, ...(hasGap ? [[width - 28, values.length]] : [])])
      svg.append(draw("circle", { class: points.length > 8 && i < values.length ? "dot small" : "dot", cx: x, cy: up(effect.mean[i]), r: points.length > 8 && i < values.length ? 2.5 : 4 }, draw("title", {}, `${effect.labels[i]}: ${signed(effect.mean[i])} (${count(effect.n[i], "row")})`)));
    const middle = Number.isInteger(from) && Number.isInteger(to) ? Math.floor((from + to) / 2) : (from + to) / 2;
    const ends = to > from ? [[from, "start"], ...(middle > from ? [[middle, "middle"]] : []), [to, "end"]] : values.length ? [[from, "middle"]] : [];
    for (const [value, anchor] of ends) svg.append(draw("text", { x: at(value), y: height - 8, "text-anchor": anchor }, format(value, digits)));
    if (hasGap) svg.append(draw("text", { x: width - 28, y: height - 8, "text-anchor": "middle" }, "missing"));
    place.replaceChildren(svg);
  });
  return el("div", {}, place, tabulateEffect(effect));
}

function drawCategories(facts, unit, column, cls, ticks) {
  const effect = effectOf(facts, unit, column, cls);
  const rows = effect.labels.map((name, i) => ({ name, value: effect.mean[i], range: [effect.low[i], effect.high[i]], figure: signed(effect.mean[i]), note: count(effect.n[i], "row") }));
  return el("div", {}, bars(rows, { most: Math.max(-ticks[0], ticks.at(-1)), shown: 6 }), tabulateEffect(effect));
}
