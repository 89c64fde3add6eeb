// The curves and surfaces of an additive model, in place of its trees.

import { bars, brief, choose, count, cut, digitsBetween, draw, el, find, format, named, renew, responsive, short, signed, table, unfold } from "./draw.js";
import { roundTicks } from "./effects.js";
import { decodeArray } from "./model.js";

const FIRST_TERMS = 6;

// The values of a class of a term, its band and the weights of its cells.
function readTerm({ values, band, weight }, nScores, cls, factor) {
  const of = (array) => Array.from(decodeArray(array)).filter((_, i) => i % nScores === cls).map((value) => factor * value);
  return { values: of(values), band: of(band).map(Math.abs), weight: Array.from(decodeArray(weight)) };
}

export function showTerms(facts, model) {
  const section = find("trees");
  section.querySelector(".split").remove();
  find("tree-controls").remove();
  find("path").remove();
  find("trees-title").textContent = facts.surfaces.length ? "Curves and surfaces" : "Curves";
  document.querySelector('nav a[href="#trees"]').textContent = "Curves";
  const { unit } = model.head;
  const ofClass = facts.classes.length === 2 ? [" (log odds of ", named(facts.classes[1]), ")"] : [];
  find("trees-hint").append(`This is the whole model: a prediction is the sum of one value per chart, in ${unit.name}`, ...ofClass, `, and a constant. Bands are standard errors. Grey: where the rows are. All curves have the same scale. An axis that ends with “…” leaves out a few extreme values.`);
  const many = facts.n_scores > 1;
  let cls = 0;
  const place = el("div", {});
  const read = (term) => ({ ...term, ...readTerm(term, facts.n_scores, cls, unit.factor) });
  function paint() {
    const curves = facts.curves.map(read);
    const spread = curves.flatMap(({ values, band, weight }) => values.flatMap((value, i) => (weight[i] > 0 ? [value - band[i], value + band[i]] : [])));
    const ticks = roundTicks(Math.min(0, ...spread), Math.max(0, ...spread));
    const make = (term) => el("figure", { class: "card effect" }, el("figcaption", {}, short(term.name, 60)), (term.categories ? drawLevels : drawSteps)(term, unit, ticks));
    const grid = (some) => el("div", { class: "effects" }, some.map(make));
    const fold = (all, noun, write) => [write(all.slice(0, FIRST_TERMS)), all.length > FIRST_TERMS ? unfold(`${count(all.length - FIRST_TERMS, `more ${noun}`)}`, () => write(all.slice(FIRST_TERMS)), "more") : null];
    const surfaces = facts.surfaces.map(read);
    const most = surfaces.reduce((size, { values }) => values.reduce((a, value) => Math.max(a, Math.abs(value)), size), 1e-300);
    const maps = (some) => el("div", { class: "effects" }, some.map((term) => el("figure", { class: "card effect" },
      el("figcaption", {}, short(term.scales[0].name, 30), " × ", short(term.scales[1].name, 30)), drawSurface(term, most))));
    renew(place, ...fold(curves, "curve", grid),
      ...(surfaces.length ? [el("h3", {}, "Surfaces"), el("p", { class: "hint" }, `What a pair of columns adds to its two curves: violet adds, red subtracts, up to ${format(most, 3)}.`), ...fold(surfaces, "surface", maps)] : []));
  }
  paint();
  const control = many ? el("div", { class: "controls" }, choose("Class", facts.classes, cls, (chosen) => {
    cls = chosen;
    paint();
  })) : null;
  section.append(el("div", { id: "terms" }, control, place));
}

const tabulate = ({ labels, values, band, weight }) => unfold("Show the data", () => table(["step", "rows", "value", "band"],
  labels.map((label, i) => [short(label, 30), format(weight[i], 7), signed(values[i], 4), format(band[i], 2)])));

function drawLevels(term, unit, ticks) {
  const rows = term.labels.map((name, i) => ({ name, value: term.values[i], range: [term.values[i] - term.band[i], term.values[i] + term.band[i]], figure: signed(term.values[i]), note: count(term.weight[i], "row") }))
    .filter((_, i) => term.weight[i] > 0);
  return el("div", {}, bars(rows, { most: Math.max(-ticks[0], ticks.at(-1)), shown: 8 }), tabulate(term));
}

function drawSteps(term, unit, ticks) {
  const { edges, density, values, band, weight, labels } = term;
  const n = values.length - 1; // the last step is that of missing values
  const hasGap = weight[n] > 0;
  const [low, high] = [ticks[0], ticks.at(-1)];
  const [from, to] = term.span;
  const place = el("div", {});
  responsive(place, (width) => {
    const [height, left, top, bottom, room] = [206, 46, 24, 24, 26];
    const right = hasGap ? 58 : 12;
    const at = (x) => left + (to > from ? Math.min(1, Math.max(0, (x - from) / (to - from))) : 0.5) * (width - left - right);
    const up = (y) => top + (1 - (y - low) / (high - low)) * (height - top - bottom - room);
    const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Curve of ${term.name}: from ${format(values[0], 3)} to ${format(values[n - 1], 3)} in ${count(n, "step")}.` });
    svg.append(draw("text", { class: "unit", x: 0, y: 11 }, cut(unit.axis, 40)));
    for (const y of ticks) svg.append(draw("line", { class: y === 0 ? "zero" : "axis", x1: left, x2: width - 8, y1: up(y), y2: up(y) }), draw("text", { x: left - 6, y: up(y) + 4, "text-anchor": "end" }, brief(y)));
    const most = Math.max(...density, 1);
    const wide = (width - left - right) / density.length;
    density.forEach((rows, i) => rows && svg.append(draw("rect", { class: "rows", x: left + i * wide, width: Math.max(0.5, wide - 1), y: height - bottom - (room * rows) / most, height: (room * rows) / most })));
    const ends = [from, ...edges, to];
    const path = (ys) => ys.flatMap((y, i) => [`${at(ends[i])} ${up(y)}`, `${at(ends[i + 1])} ${up(y)}`]);
    const steps = values.slice(0, n);
    svg.append(
      draw("path", { class: "interval", d: `M${[...path(steps.map((y, i) => y + band[i])), ...path(steps.map((y, i) => y - band[i])).reverse()].join("L")}Z` }),
      draw("path", { class: "line", d: `M${path(steps).join("L")}` }));
    steps.forEach((_, i) => svg.append(draw("rect", { class: "touch", x: at(ends[i]), width: Math.max(0, at(ends[i + 1]) - at(ends[i])), y: top, height: height - top - bottom },
      draw("title", {}, `${labels[i]}: ${signed(values[i])} (${count(weight[i], "row")})`))));
    if (hasGap) svg.append(
      draw("line", { class: "band", x1: width - 28, x2: width - 28, y1: up(values[n] - band[n]), y2: up(values[n] + band[n]) }),
      draw("circle", { class: "dot", cx: width - 28, cy: up(values[n]), r: 4 }, draw("title", {}, `missing: ${signed(values[n])} (${count(weight[n], "row")})`)),
      draw("text", { x: width - 28, y: height - 8, "text-anchor": "middle" }, "missing"));
    const digits = digitsBetween(from, to);
    const [least, last] = term.whole;
    const texts = [`${least < from ? `${format(least, 4)} … ` : ""}${format(from, digits)}`, `${format(to, digits)}${last > to ? ` … ${format(last, 4)}` : ""}`];
    for (const [x, anchor, text] of to > from ? [[from, "start", texts[0]], [to, "end", texts[1]]] : [[from, "middle", format(from, digits)]]) svg.append(draw("text", { x: at(x), y: height - 8, "text-anchor": anchor }, text));
    place.replaceChildren(svg);
  });
  return el("div", {}, place, tabulate(term));
}

function drawSurface(term, most) {
  const [across, along] = term.scales;
  const [nX, nY] = [across.labels.length, along.labels.length];
  const weightOf = (cells) => cells.reduce((sum, cell) => sum + term.weight[cell], 0);
  const range = (n) => Array.from({ length: n }, (_, i) => i);
  // Missing values that never occurred have no cells.
  const columns = range(nX).filter((i) => i < nX - 1 || weightOf(range(nY).map((j) => i * nY + j)) > 0);
  const rows = range(nY).filter((j) => j < nY - 1 || weightOf(range(nX).map((i) => i * nY + j)) > 0);
  const place = el("div", {});
  responsive(place, (width) => {
    const [height, left, top, bottom] = [230, 96, 8, 40];
    const [wide, tall] = [(width - left - 8) / columns.length, (height - top - bottom) / rows.length];
    const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Surface of ${across.name} and ${along.name} in ${count(columns.length * rows.length, "cell")}.` });
    columns.forEach((i, x) => rows.forEach((j, y) => {
      const value = term.values[i * nY + j];
      svg.append(draw("rect", { class: value > 0 ? "adds" : "subtracts", "fill-opacity": Math.min(1, Math.abs(value) / most), x: left + x * wide, width: wide, y: height - bottom - (y + 1) * tall, height: tall },
        draw("title", {}, `${across.name} ${across.labels[i]}, ${along.name} ${along.labels[j]}: ${signed(value)} (${count(term.weight[i * nY + j], "row")})`)));
    }));
    svg.append(draw("rect", { class: "frame", x: left, y: top, width: width - left - 8, height: height - top - bottom }));
    // Numbers have their edges between cells, categories their names.
    const list = ({ labels, edges }, shown, most) => {
      const marks = edges ? edges.map((text, i) => [i + 1, text]) : shown.map((i, place) => [place + 0.5, labels[i]]);
      const some = marks.filter((_, i) => i % Math.ceil(marks.length / most) === 0);
      return edges && shown.length > edges.length + 1 ? [...some, [shown.length - 0.5, "missing"]] : some;
    };
    for (const [y, text] of list(along, rows, 6)) svg.append(draw("text", { x: left - 6, y: height - bottom - y * tall + 4, "text-anchor": "end" }, cut(text, 13)));
    for (const [x, text] of list(across, columns, Math.max(1, Math.floor((width - left) / 70)))) svg.append(draw("text", { x: left + x * wide, y: height - bottom + 14, "text-anchor": "middle" }, cut(text, 10)));
    svg.append(draw("text", { class: "unit", x: width - 8, y: height - 6, "text-anchor": "end" }, cut(across.name, 40)), draw("text", { class: "unit", x: 0, y: height - 6 }, cut(along.name, 24)));
    place.replaceChildren(svg);
  });
  return el("div", {}, place);
}
