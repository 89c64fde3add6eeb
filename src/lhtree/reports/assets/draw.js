// Elements, numbers and charts of the page. Text from data is only ever set as text.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "own") node.style.setProperty("--own", value);
    else if (name === "style") Object.assign(node.style, value);
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}

export const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const draw = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
export const find = (id) => document.getElementById(id);
// describe/palette.py defines the colours of classes, --c0 and so on, and their number.
export const colour = (cls) => {
  colour.n ??= Number(getComputedStyle(document.documentElement).getPropertyValue("--n-colours"));
  return `color-mix(in oklab, var(--c${cls % colour.n}) var(--pure), white)`;
};
// Colour of evidence for a class (above 0), against it (below 0) or neither.
export const evidence = (value) => `var(--${value > 0 ? "for" : value < 0 ? "against" : "soft"})`;

// Text that is not printed.
export const onScreen = (text) => el("span", { class: "screen" }, text);

// A long name without its middle, between words if one ends nearby: names often differ in their ends only.
export function cut(name, most = 60) {
  const letters = Array.from(name);
  if (letters.length <= most) return name;
  const isGap = (i) => /[\s_]/.test(letters[i]);
  const near = Array.from({ length: 10 }, (_, i) => i);
  const tail = Math.floor((most - 1) / 2);
  const [end, start] = [most - 1 - tail, letters.length - tail];
  const head = letters.slice(0, end - (near.find((i) => isGap(end - i)) ?? 0));
  return `${head.join("")}…${letters.slice(start + (near.find((i) => isGap(start + i - 1)) ?? 0)).join("")}`;
}
// Names of a list. If some would look alike without their middles, all lose their common beginning and end, except for
// one word. A word joiner keeps the dots and the rest on one line.
export function cutAll(names, most) {
  const own = names.map((name) => cut(name, most));
  if (new Set(own).size === names.length) return own;
  const lists = names.map((name) => name.split(/(?<=[\s_])/));
  const least = Math.min(...lists.map((words) => words.length)) - 1;
  const alike = (at) => lists.every((words) => words.at(at) === lists[0].at(at));
  let [first, last] = [0, 0];
  while (first < least && alike(first)) first++;
  while (last < least - first && alike(-1 - last)) last++;
  first = Math.max(0, first - 1);
  return lists.map((words) => `${first ? "…\u2060" : ""}${cut(words.slice(first, words.length - last).join("").trim(), most)}${last ? "…" : ""}`);
}
// A name from data, the whole of it on hover.
export const short = (name, most = Infinity) => el("span", { class: "short", title: name }, cut(name, most));
// The name of a class in a table.
export const tag = (facts, cls) => el("span", { class: "short", title: facts.labels[cls] }, facts.tags[cls]);
// A name within a sentence.
export const named = (name) => el("bdi", { class: "name", title: name }, cut(name));

const [LARGEST, SMALLEST, GROUPED, LONGEST] = [1e15, 1e-4, 1e4, 12];
function group(text) {
  const [whole, ...decimals] = text.split(".");
  return [whole.replace(/\d(?=(\d{3})+$)/g, "$&,"), ...decimals].join(".");
}
// A number in common notation, with separators between thousands from 10,000 on: years have none.
function write(value) {
  const size = Math.abs(value);
  const text = size >= LARGEST || (size !== 0 && size < SMALLEST) ? value.toExponential() : size < GROUPED ? String(value) : group(String(value));
  return text.replace("-", "−");
}
export const format = (value, digits = 4) => (Number.isNaN(value) ? "missing" : write(Number(value.toPrecision(digits))));
// A value of a row as it is. One with more than twelve digits was computed: it is rounded to six, and has three decimals
// at least. Same rule as in Python (lhtree.model.numbers).
export const exact = (value) => (Number.isNaN(value) ? "missing" : write(shortest(value)));
export function shortest(value) {
  if (Number.isInteger(value) || value.toExponential().split("e")[0].replace(/\D/g, "").length <= LONGEST) return value;
  for (let digits = 1; digits <= 9 && Math.fround(value) === value; digits++)
    if (Math.fround(Number(value.toPrecision(digits))) === value) return Number(value.toPrecision(digits));
  return Number(Math.abs(value) < 100 ? value.toPrecision(6) : value.toFixed(3));
}

// Results are rounded to decimals, to thousands if it is -3. Halves are rounded to even, as in Python.
const [STEPS, MOST_DECIMALS] = [3000, 6];
function fix(value, decimals) {
  const scaled = value * 10 ** decimals;
  const isHalf = Math.abs(scaled % 1) === 0.5 && (decimals < 0 || Number.isInteger(value * 2 ** (decimals + 1)));
  if (isHalf) return (2 * Math.round(scaled / 2)) / 10 ** decimals;
  return decimals > 0 ? Number(value.toFixed(decimals)) : Math.round(scaled) / 10 ** decimals;
}
// Decimals with which a range has some thousand distinguishable values.
export const decimalsBetween = (low, high) => -Math.floor(Math.log10((high > low ? high - low : Math.abs(high) || 1) / STEPS));
export function amount(value, decimals) {
  if (decimals > MOST_DECIMALS || Math.abs(value) >= LARGEST) return format(value);
  return group(fix(value, decimals).toFixed(Math.max(0, decimals))).replace("-", "−");
}
export const change = (value, decimals) => (fix(value, decimals) > 0 ? "+" : "") + amount(value, decimals);
// Parts rounded so that, as printed, they lead from the start to the end: each to the nearest number first; units that are
// then missing go to the parts that rounding changed most.
export function roundParts(start, parts, end, decimals) {
  const largest = Math.max(...[start, end, ...parts].map(Math.abs));
  if (!parts.length || decimals > MOST_DECIMALS || !(largest < LARGEST)) return parts;
  const inUnits = (value) => Math.round(fix(value, decimals) * 10 ** decimals);
  const units = parts.map(inUnits);
  const missing = units.reduce((rest, unit) => rest - unit, inUnits(end) - inUnits(start));
  const errors = units.map((unit, i) => Math.sign(missing) * (unit - parts[i] * 10 ** decimals));
  const order = units.map((_, i) => i).sort((a, b) => errors[a] - errors[b]);
  for (let n = 0; n < Math.abs(missing); n++) units[order[n % order.length]] += Math.sign(missing);
  return units.map((unit) => unit / 10 ** decimals);
}
// A word at the beginning of a sentence.
export const capital = (text) => text[0].toUpperCase() + text.slice(1);
export const signed = (value, digits = 3) => (value > 0 ? "+" : "") + format(value, digits);
// A share in per cent, never rounded to 0 or 100 %, as in explanations of the library; halves are rounded to even.
export function percent(share) {
  const value = 100 * share;
  const text = (value % 1 === 0.25 ? `${Math.floor(value)}.2` : value.toFixed(1)).replace(/\.0$/, "");
  if (text === "0" && share > 0) return "under 0.1\u00a0%";
  return text === "100" && share < 1 ? "over 99.9\u00a0%" : `${text}\u00a0%`;
}
// A share in per cent, without decimals.
export const whole = (share) => (share > 0 && share < 0.005 ? "<1" : share < 1 && share >= 0.995 ? ">99" : (100 * share).toFixed(0)) + "\u00a0%";
// A round number on an axis.
const tick = (share, digits = 0) => `${(100 * share).toFixed(digits)}\u00a0%`;
// Number of digits that distinguishes the values of a feature, even far from 0.
export function digitsBetween(low, high) {
  const digits = 3 + Math.ceil(Math.log10(Math.max(Math.abs(low), Math.abs(high)) / (high - low)));
  return Number.isFinite(digits) ? Math.max(4, Math.min(15, digits)) : 4;
}
// A count that fits a narrow column.
export const tally = (n) => (n < 10000 ? format(n, 4) : n < 1e6 ? `${format(n / 1e3, 3)}k` : `${format(n / 1e6, 3)}M`);
export const count = (n, one, many = `${one}s`) => `${format(n, 15)} ${n === 1 ? one : many}`;
// A prediction, with the digits that distinguish responses.
export const respond = (facts, value) => amount(value, decimalsBetween(facts.response.low, facts.response.high));
// A number that fits an axis.
export const brief = (value) => (value < 0 ? "−" : "") + tally(Number(Math.abs(value).toPrecision(3)));

export const [MANY_CLASSES, FIRST_CLASSES] = [12, 10]; // of more classes than these, only the first are shown at once
const LONGEST_BESIDE = 10; // letters of a name that fit beside its bar

// Bars to both sides of 0, or from 0 to `most`. Rows: { name, value, figure, note, own, range }.
export function bars(rows, { most, both = true, shown = 8 } = {}) {
  const largest = most || Math.max(...rows.map((row) => Math.abs(row.value)), 1e-300);
  const list = (some) =>
    el("div", { class: rows.some((row) => row.note || row.name.length > LONGEST_BESIDE) ? "bars above" : "bars" }, some.map((row) => {
      const length = Math.min(1, Math.abs(row.value) / largest) * (both ? 50 : 100);
      const left = !both ? 0 : row.value < 0 ? 50 - length : 50;
      return [
        short(row.name, 60),
        el("div", { class: both ? "track both" : "track", own: row.own || null },
          length === 0 ? null : el("i", { class: row.value < 0 ? "less" : null, style: { left: `${left}%`, width: `${length}%` } }),
          row.range ? el("b", { class: "whisker", style: { left: `${50 + 50 * row.range[0] / largest}%`, width: `${50 * (row.range[1] - row.range[0]) / largest}%` } }) : null),
        el("div", { class: "figure", "data-value": row.exact ?? row.value }, row.figure, row.note ? el("br", {}) : null, row.note ? el("small", {}, row.note) : null),
      ];
    }));
  if (rows.length <= shown + 2) return list(rows);
  return el("div", {}, list(rows.slice(0, shown)), unfold(`${rows.length - shown} more`, () => list(rows.slice(shown)), "more"));
}

// Details whose content is made when they are first opened. The title of those with class "more" is of use on paper, too.
export function unfold(title, make, className = null) {
  const details = el("details", { class: className }, el("summary", {}, title));
  details.addEventListener("toggle", () => details.open && details.children.length === 1 && details.append(make()));
  return details;
}

export function table(heads, rows, attributes) {
  return el("div", { class: "scroll" }, el("table", attributes,
    el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell, i) => (cell instanceof Node && cell.matches("td, th") ? cell : el(i ? "td" : "th", i ? {} : { scope: "row" }, cell))))))));
}

// Replaces the content of an element; a choice in it keeps the focus.
export function renew(place, ...children) {
  const active = place.contains(document.activeElement) && document.activeElement.closest("[data-choice]");
  place.replaceChildren(...children.flat().filter(Boolean));
  if (active) place.querySelector(`[data-choice="${active.dataset.choice}"] :is(input:checked, select)`)?.focus({ preventScroll: true });
}

// A choice of one: pills for a few, a list for many. Calls onchange with the index of the chosen one.
export function choose(label, names, chosen, onchange) {
  if (names.length > 6) {
    const select = el("select", { onchange: () => onchange(Number(select.value)) }, names.map((name, i) => el("option", { value: i, selected: i === chosen }, name)));
    return el("div", { "data-choice": label }, el("label", {}, label, select));
  }
  const group = `choice-${choose.n++}`;
  return el("fieldset", { "data-choice": label }, el("legend", {}, label), el("div", { class: "pills" }, names.map((name, i) =>
    el("label", {}, el("input", { type: "radio", name: group, value: i, checked: i === chosen, onchange: () => onchange(i) }), el("span", { title: name }, cut(name, 30))))));
}
choose.n = 0;

// Calls `paint(width)` now and whenever the width of the place changes.
export function responsive(place, paint) {
  let last = 0;
  const look = () => {
    const width = Math.round(place.clientWidth);
    if (width > 0 && width !== last) paint((last = width));
  };
  new ResizeObserver(look).observe(place);
  look();
}

// A chart of shares from 0 to 1 upwards (or `low` to `high`), with lines and dots; the numbers follow as a table. Its
// `mark` shows a point on it.
export function chart({ isPlain, title, note, x, y, low = 0, high = 1, even, series, heads, rows, yFormat, xFormat = tick }) {
  const figure = el("figure", { class: isPlain ? null : "card" }, el("figcaption", {}, title));
  const place = el("div", {});
  const dot = draw("circle", { class: "mark", r: 6, visibility: "hidden" });
  let [marked, move] = [null, () => {}];
  figure.mark = (point) => move((marked = point));
  figure.append(place, note ? el("p", { class: "note" }, note) : "");
  if (rows) figure.append(unfold("Show the data", () => table(heads, rows)));
  responsive(place, (width) => {
    const height = Math.max(206, Math.min(276, width * 0.6 + 16));
    const [left, right, top, bottom] = [52, 14, 26, 40];
    const at = (px) => left + px * (width - left - right);
    const up = (py) => top + (1 - (py - low) / (high - low)) * (height - top - bottom);
    const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}. ${note || ""}` });
    const digits = Number.isInteger(Math.round(2500 * (high - low)) / 100) ? 0 : 1;
    const write = yFormat || ((share) => tick(share, digits));
    const ticks = [0, 0.25, 0.5, 0.75, 1];
    for (const share of ticks) {
      const value = low + share * (high - low);
      svg.append(draw("line", { class: "axis", x1: left, x2: width - right, y1: up(value), y2: up(value) }), draw("text", { x: left - 8, y: up(value) + 4, "text-anchor": "end" }, write(value)));
    }
    const dense = (width - left - right) / ticks.length < 36; // labels would touch
    for (const share of dense ? ticks.filter((_, i) => i % 2 === 0) : ticks) svg.append(draw("text", { x: at(share), y: height - 22, "text-anchor": "middle" }, xFormat(share)));
    svg.append(draw("text", { x: at(0.5), y: height - 4, "text-anchor": "middle" }, x), draw("text", { class: "unit", x: 0, y: 11 }, y), draw("title", {}, `${y} against ${x}`));
    if (even) svg.append(draw("path", { class: "even", d: `M${at(even[0][0])} ${up(even[0][1])}L${at(even[1][0])} ${up(even[1][1])}` }));
    for (const { points, className = "line", dot = "dot", radius, bar } of series) {
      // Bars begin at their points and are as wide as `bar`.
      if (bar) for (const [px, py] of points) svg.append(draw("rect", { class: "bar", x: at(px) + 0.5, y: up(py), width: at(px + bar) - at(px) - 1, height: up(low) - up(py) }));
      if (className) svg.append(draw("path", { class: className, d: points.map(([px, py], i) => `${i ? "L" : "M"}${at(px)} ${up(py)}`).join("") }));
      points.forEach(([px, py], i) => {
        if (dot) svg.append(draw("circle", { class: dot, cx: at(px), cy: up(py), r: radius ? radius[i] : 4 }));
      });
    }
    svg.append(dot);
    move = (point) => fill(dot, point ? { cx: at(point[0]), cy: up(point[1]), visibility: "visible" } : { visibility: "hidden" }, []);
    move(marked);
    place.replaceChildren(svg);
  });
  return figure;
}
