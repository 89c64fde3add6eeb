// The row explorer: a row to pick or to type, its prediction, the contributions and the path.

import { amount, bars, change, colour, count, cut, decimalsBetween, el, evidence, exact, find, format, named, onScreen, percent, renew, respond, roundParts, short, shortest, signed, table, tag, unfold } from "./draw.js";
import { categoryOf, decodeArray, divideDay, nameOf } from "./model.js";
import { reasonOf } from "./trees.js";

const FIRST_FIELDS = 12;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const SEPARATED = /^[+-]?\d{1,3}(,\d{3})+(\.\d*)?$/; // 66,008

// NaN for an empty field, which counts as missing; undefined if the text is not a finite number.
export function parseValue(text) {
  const plain = text.trim().replace("−", "-");
  const trimmed = SEPARATED.test(plain) ? plain.replaceAll(",", "") : plain;
  if (trimmed === "") return NaN;
  const value = Number(trimmed);
  return NUMBER.test(trimmed) && Number.isFinite(value) ? value : undefined;
}

// A value at a share of the way from low to high, with as few digits as still move with every step of a slider.
export function between(low, high, share) {
  const value = low * (1 - share) + high * share;
  const digits = -Math.floor(Math.log10(high / 4000 - low / 4000));
  const scale = 10 ** Math.abs(digits);
  const rounded = digits > 0 ? Number(value.toFixed(Math.min(100, digits))) : Math.round(value / scale) * scale;
  return Math.max(low, Math.min(high, rounded));
}

export class RowExplorer {
  constructor(facts, model, onscore) {
    Object.assign(this, { facts, model, onscore, chosen: 0, isOwn: false });
    const { samples, features } = facts;
    this.X = decodeArray(samples.X);
    this.proba = decodeArray(samples.proba);
    this.low = decodeArray(features.low);
    this.high = decodeArray(features.high);
    this.values = Array.from({ length: model.nFeatures }, () => NaN);
    this.fields = new Map();
    this.choices = [];
    this.isWhole = facts.trees.n_shown === facts.model.n_estimators && (!facts.pool || facts.pool.trees.n_shown === facts.pool.n_estimators);
    find("row-hint").append(onScreen("Pick a row or enter values. "), "The page computes the prediction exactly as the model does. An empty field is a missing value.");
    if (!this.isWhole)
      find("row-hint").after(el("p", { class: "notice", id: "partial" }, model.head.tellPartial()));
    this.makePicker();
    this.makeFields();
    this.pick(0);
  }

  makePicker() {
    const { samples, classes } = this.facts;
    const isNumber = this.facts.response !== null;
    const titles = isNumber ? { wrong: "Largest errors first", right: "Other rows" }
      : { wrong: "Wrong predictions", unsure: "Correct, lowest probability first", right: "Correct predictions" };
    const truth = (i) => (isNumber ? exact(samples.actual[i]) : cut(classes[samples.codes[i]], 40));
    const predicted = (i) => {
      const own = this.proba.subarray(i * classes.length, (i + 1) * classes.length);
      return `, predicted ${isNumber ? respond(this.facts, own[0]) : cut(classes[own.indexOf(Math.max(...own))], 40)}`;
    };
    this.select = el("select", { id: "sample", onchange: () => this.pick(Number(this.select.value)) });
    let i = 0;
    for (const [group, n] of Object.entries(samples.groups)) {
      if (!n) continue;
      const options = el("optgroup", { label: titles[group] });
      for (const end = i + n; i < end; i++) options.append(el("option", { value: i }, `row ${samples.row[i]}: ${truth(i)}${group === "wrong" ? predicted(i) : ""}`));
      this.select.append(options);
    }
    const step = (by) => this.pick((this.chosen + by + samples.row.length) % samples.row.length);
    find("picker").append(
      el("div", { style: { flex: "1 1 12rem", minWidth: "0" } }, el("label", { for: "sample" }, samples.is_test ? "Held-out row" : "Supplied row"), this.select),
      el("div", { class: "pills" },
        el("button", { type: "button", id: "previous", "aria-label": "Previous row", onclick: () => step(-1) }, "←"),
        el("button", { type: "button", id: "next", "aria-label": "Next row", onclick: () => step(1) }, "→"),
        el("button", { type: "button", id: "clear", onclick: () => this.clear() }, "Clear")));
  }

  makeFields() {
    const { importance } = this.facts.features;
    const { columns } = this.facts;
    const order = columns.map((_, i) => i).sort((a, b) => importance[b] - importance[a]).map((i) => columns[i]);
    const make = (some) => el("div", {}, some.map((column) => (column.categories ? this.makeChoice(column) : this.makeField(column.features[0]))));
    find("inputs").append(make(order.slice(0, FIRST_FIELDS + 2)));
    const rest = order.slice(FIRST_FIELDS + 2);
    if (rest.length) find("inputs").append(unfold(`${rest.length} more features`, () => make(rest), "more"));
  }

  makeField(f) {
    const id = `value-${f}`;
    const [low, high] = [this.low[f], this.high[f]];
    const input = el("input", { type: "text", id, inputmode: "decimal", autocomplete: "off", spellcheck: "false", placeholder: "missing", "data-feature": f, oninput: () => this.type(f, input.value) });
    const slider = el("input", { type: "range", min: 0, max: 1000, "aria-label": `${this.facts.features.names[f]}, from ${exact(low)} to ${exact(high)}`, disabled: !(low < high), oninput: () => this.slide(f, slider.value / 1000) });
    const problem = el("p", { class: "problem", id: `problem-${f}`, hidden: true }, "Not a number. Enter a value such as 1.5 or 2e3, or leave the field empty if it is missing.");
    this.fields.set(f, { input, slider, problem });
    this.fill(f);
    return el("div", { class: "field" }, el("label", { for: id }, short(this.facts.features.names[f], 48)), input, slider, problem);
  }

  makeChoice(column) {
    const id = `value-${column.features[0]}`;
    const select = el("select", { id, onchange: () => this.take(column, Number(select.value)) },
      el("option", { value: -1 }, "missing"), column.categories.map((category, i) => el("option", { value: i }, short(category))));
    this.choices.push({ column, select });
    select.value = String(categoryOf(column, this.values));
    return el("div", { class: "field choice" }, el("label", { for: id }, short(column.name, 48)), select);
  }

  // One category of a column, or none: it is missing.
  take(column, category) {
    const value = (i) => (column.statistics ? column.statistics[i][category] : Number(i === category));
    column.features.forEach((f, i) => (this.values[f] = category < 0 ? NaN : value(i)));
    this.isOwn = true;
    this.update();
  }

  fillAll() {
    for (const f of this.fields.keys()) this.fill(f);
    for (const { column, select } of this.choices) select.value = String(categoryOf(column, this.values));
  }

  fill(f) {
    const field = this.fields.get(f);
    if (!field) return;
    const value = this.values[f];
    // The page computes with all digits of a row that was picked; its field shows the first digits of very long values.
    field.input.value = Number.isNaN(value) ? "" : String(shortest(value));
    field.input.title = Number.isNaN(value) ? "" : String(value);
    this.follow(f);
  }

  follow(f) {
    const { input, slider, problem } = this.fields.get(f);
    const value = this.values[f];
    const isBad = value === undefined;
    input.setAttribute("aria-invalid", String(isBad));
    if (isBad) input.setAttribute("aria-describedby", problem.id);
    else input.removeAttribute("aria-describedby");
    problem.hidden = !isBad;
    const place = Number.isFinite(value) ? value : this.model.centre[f];
    slider.value = Math.round((1000 * (place - this.low[f])) / (this.high[f] - this.low[f]) || 0);
    slider.setAttribute("aria-valuetext", isBad ? "not a number" : exact(value));
    slider.style.opacity = Number.isFinite(value) ? 1 : 0.45;
  }

  type(f, text) {
    this.values[f] = parseValue(text);
    this.fields.get(f).input.title = "";
    this.isOwn = true;
    this.follow(f);
    this.update();
  }

  slide(f, share) {
    const value = between(this.low[f], this.high[f], share);
    this.values[f] = this.facts.features.is_whole[f] ? Math.round(value) : value;
    this.isOwn = true;
    this.fill(f);
    this.update();
  }

  pick(sample) {
    const m = this.model.nFeatures;
    this.chosen = sample;
    this.isOwn = false;
    this.select.value = String(sample);
    this.values = Array.from(this.X.subarray(sample * m, (sample + 1) * m));
    this.fillAll();
    this.update(true);
  }

  clear() {
    this.values.fill(NaN);
    this.isOwn = true;
    this.fillAll();
    this.update();
  }

  update(isPicked = false) {
    for (const { hasIndicator, newest, features: [f, ...others] } of this.facts.columns) {
      if (hasIndicator) this.values[others[0]] = Number(Number.isNaN(this.values[f]));
      if (newest !== undefined) divideDay(newest - this.values[f]).forEach((part, i) => { this.values[others[i]] = part; });
    }
    const isBad = this.values.some((value) => value === undefined);
    this.score = isBad ? null : this.model.score(this.values);
    if (isBad) find("answer").replaceChildren(el("p", { role: "status" }, "Correct the marked value to get a prediction."));
    else showAnswer(this);
    this.onscore(this.score, isPicked);
  }
}

// The answer for a row: prediction, sentence and contributions.

function showAnswer(explorer) {
  const { facts, model, score, values } = explorer;
  if (facts.response) return renew(find("answer"), answerNumber(explorer));
  const { classes } = facts;
  const best = score.prediction;
  const order = classes.map((_, c) => c).sort((a, b) => score.proba[b] - score.proba[a]);
  const parts = [
    el("div", { role: "status" },
      el("p", { class: "note" }, explorer.isWhole ? "Prediction of the model" : `Prediction of the first ${facts.trees.n_shown} ${model.head.estimators}`),
      el("p", { class: "answer", id: "prediction", "data-class": best }, named(classes[best]), ` (probability ${percent(score.proba[best])})`)),
    bars(order.map((c) => ({ name: classes[c], value: score.proba[c], exact: score.proba[c], figure: percent(score.proba[c]), own: colour(c) })), { both: false, most: 1 }),
    score.uncalibrated ? el("p", { class: "note", id: "calibrated" }, `Probabilities are calibrated; before calibration this class has ${percent(score.uncalibrated[best])}.`) : null,
    !score.wolf || model.head.isProbability || score.fallback || score.uncalibrated ? null : el("p", { class: "note" }, "Probabilities are shares of the WOLF values (membership × confidence): ", ...join(order.slice(0, 2).map((c) => [named(classes[c]), ` ${format(score.wolf[c], 3)}`])), "."),
    describeTruth(explorer),
    el("p", { id: "sentence" }, ...describe(facts, model, values, score, best)),
    showContributions(facts, model, values, score, best),
    score.rawScore ? unfold("Raw scores", () => table(["class", "raw score", "probability"],
      classes.map((_, c) => [tag(facts, c), format(score.rawScore[c]), percent(score.proba[c])])))
    : model.head.isProbability ? null
    : unfold("WOLF, membership and confidence", () => table(["class", "WOLF", "membership", "confidence"],
      classes.map((_, c) => [tag(facts, c), format(score.wolf[c]), format(score.membership[c]), format(score.confidence[c])]))),
  ];
  return renew(find("answer"), parts);
}

function describeTruth({ facts, model, chosen, isOwn, isWhole, proba }) {
  if (isOwn) return el("p", { class: "note" }, "Prediction for the edited values.");
  const { classes, samples } = facts;
  const own = proba.subarray(chosen * classes.length, (chosen + 1) * classes.length);
  const said = own.indexOf(Math.max(...own));
  const forest = isWhole ? [] : [`The whole ${model.head.whole} predicts `, named(classes[said]), ` (probability ${percent(own[said])}). `];
  return el("p", { class: "note" }, ...forest, "True class: ", named(classes[samples.codes[chosen]]), isWhole && said !== samples.codes[chosen] ? ". The prediction is wrong." : ".");
}

function contributionsOf(facts, model, score, cls) {
  const { base, byFeature, clipped = 0 } = model.contributions(score, cls);
  const parts = facts.columns.map((column) => ({ column, value: column.features.reduce((sum, f) => sum + byFeature[f], 0) })).filter((part) => part.value !== 0);
  const end = parts.reduce((sum, part) => sum + part.value, base + clipped);
  parts.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const figures = model.head.writeParts(base, [...parts.map((part) => part.value), ...(clipped ? [clipped] : [])], end);
  parts.forEach((part, i) => (part.figure = figures[i]));
  return { base, end, parts, clipped: clipped ? { value: clipped, figure: figures.at(-1) } : null };
}

// Level of a value compared with the training rows, as in explanations of the library.
const LEVELS = [[2, "very high"], [0.5, "high"], [-0.5, "typical"], [-2, "low"], [-Infinity, "very low"]];
export function levelOf(model, value, z) {
  if (Number.isNaN(value)) return "missing";
  return model.knowsUsual ? LEVELS.find(([least]) => z >= least)[1] : "";
}

// Yes and no are neither high nor low.
const isFlag = (facts, f, value) =>
  decodeArray(facts.features.low)[f] === 0 && decodeArray(facts.features.high)[f] === 1 && (value === 0 || value === 1);

// "proline 1065 (high, +12 points)", compared with the typical value; "colour = red (+12 points)".
function tell(facts, model, values, z, { column, figure }) {
  const points = figure + model.head.noun;
  const f = column.features[0];
  const level = isFlag(facts, f, values[f]) ? "" : levelOf(model, values[f], z[f]);
  if (level === "missing") return [named(column.name), ` (missing, ${points})`];
  if (column.categories) return [named(nameOf(column, values)), ` (${points})`];
  return [named(column.name), ` ${exact(values[f])} (${level && `${level}, `}${points})`];
}

const join = (lists) => lists.flatMap((list, i) => [i === 0 ? "" : i === lists.length - 1 ? " and " : ", ", ...list]);

function describe(facts, model, values, score, cls) {
  const { base, end, clipped, parts } = contributionsOf(facts, model, score, cls);
  const words = model.head.start(base, end, cls);
  const [raises, lowers] = model.head.reasons;
  const speaks = parts.filter((part) => part.value > 0).slice(0, 3);
  const against = parts.filter((part) => part.value < 0).slice(0, 2);
  if (speaks.length) words.push(`${raises} `, ...join(speaks.map((part) => tell(facts, model, values, score.z, part))), ". ");
  if (against.length) words.push(`${lowers} `, ...join(against.map((part) => tell(facts, model, values, score.z, part))), ". ");
  if (clipped) words.push(`Clipping to the ranges of the leaves changes it by ${clipped.figure}. `);
  if (score.fallback === "membership") words.push("The row lies on a hyperplane in every tree (confidence 0), so the memberships alone decide. ");
  if (score.fallback === "prior") words.push("Every membership is 0, so the class frequencies decide. ");
  const missing = facts.columns.filter((column) => Number.isNaN(values[column.features[0]])).length;
  if (missing) words.push(`${count(missing, "value is", "values are")} missing${model.missing ? "" : ` and ${missing === 1 ? "is" : "are"} replaced by the typical value`}. `);
  const [low, high] = [decodeArray(facts.features.low), decodeArray(facts.features.high)];
  const numbers = facts.columns.filter((column) => !column.categories).map((column) => column.features[0]);
  const outside = numbers.filter((f) => values[f] < low[f] || values[f] > high[f]);
  if (outside.length) words.push("Outside the training range: ", ...join(outside.slice(0, 3).map((f) => [named(facts.features.names[f]), ` (${exact(low[f])} to ${exact(high[f])})`])), outside.length > 3 ? ` and ${outside.length - 3} more` : "", ". ");
  return words;
}

function showContributions(facts, model, values, score, cls) {
  const { base, end, clipped, parts } = contributionsOf(facts, model, score, cls);
  if (!parts.length) return null;
  const note = ({ categories, features: [f] }) => (Number.isNaN(values[f]) ? "missing" : categories ? "" : exact(values[f]));
  const rows = parts.map(({ column, value, figure }) => ({ name: nameOf(column, values), value, figure, note: note(column) }));
  if (clipped) rows.push({ name: "clipped to the ranges of the leaves", ...clipped, note: "" });
  return el("div", { id: "contributions" }, el("h3", {}, "Contributions to ", named(facts.classes[cls])), bars(rows, { shown: 6 }),
    el("p", { class: "note" }, `${model.head.explainContributions(base, end)} Contributions describe the model; they do not show causes.`));
}

// A feature sum, its offset and its terms in numbers that add up as printed.
const decimalsOf = ({ sum, offset }) => decimalsBetween(0, Math.max(Math.abs(sum), Math.abs(offset)));
function tellSum({ sum, offset, y }) {
  const decimals = decimalsOf({ sum, offset });
  const [rest] = roundParts(offset, [y], sum, decimals);
  return `feature sum ${amount(sum, decimals)} − offset ${amount(offset, decimals)} = ${change(rest, decimals)}`;
}
function tellTerms(step, terms) {
  const decimals = decimalsOf(step);
  return roundParts(0, terms.map(({ term }) => term), step.sum, decimals).map((term) => change(term, decimals));
}

export function showPath(facts, model, score, values, tree, explorer) {
  const place = find("path");
  place.hidden = !score;
  if (!score) return;
  const way = score.walks[tree];
  const { names } = facts.features;
  const target = facts.classes[model.target[tree]];
  const share = (block) => model.head.tellOnPath(tree, block);
  const turn = (kind, block) => (kind === "hyperplane" ? model.lift(tree, block) : 1);
  const terms = (kind, block, write = (all) => all.map(({ term }) => signed(term))) => bars(model.terms(kind, tree, block, score.clipped).map((term, i, all) => ({ name: names[term.feature], value: term.term, figure: write(all)[i], note: `${signed(term.weight)} × ${format(score.clipped[term.feature] - term.from, 3)}`, own: evidence(term.term * turn(kind, block)) })), { shown: 6 });
  const link = (block, text) => el("button", { type: "button", class: "plain", onclick: () => explorer.visit(block) }, text);
  const steps = way.steps.map((step) => el("li", {},
    el("p", {}, link(step.block, `Block ${step.block}`), ": ", share(step.block)),
    model.single(tree, step.block) !== null ? el("p", { class: "formula" }, ...reasonOf(facts, model, values, tree, step), `: goes ${step.side}`) : el("p", { class: "formula" }, `${tellSum(step)}: goes ${step.side}`),
    model.single(tree, step.block) !== null ? null : unfold("Terms of the feature sum", () => terms("hyperplane", step.block, (all) => tellTerms(step, all)))));
  steps.push(el("li", { class: "end" },
    el("p", {}, link(way.leaf, `Leaf ${way.leaf}`), ": ", share(way.leaf)),
    el("p", { class: "formula" }, model.head.tellLeaf(way)),
    model.terms("membership", tree, way.leaf).length ? unfold(model.membership_mean ? "Slope times distance from the mean of the leaf" : "Terms of the membership", () => terms("membership", way.leaf)) : null));
  const number = facts.model.n_estimators > 1 ? ` (${facts.head.estimator} ${Math.floor(tree / model.nTargets) + 1} of ${facts.model.n_estimators})` : "";
  const inner = steps.length > 40 ? [steps.slice(0, 20), el("li", {}, unfold(`${steps.length - 25} more blocks`, () => el("ol", { class: "steps" }, steps.slice(20, -5)))), steps.slice(-5)] : steps;
  renew(place,
    el("h3", {}, "Path through the tree for ", named(target), number),
    el("div", { class: "controls" }, explorer.makeControls()),
    el("ol", { class: "steps" }, inner));
}

// The answer for a row, in the unit of the response.
function answerNumber(explorer) {
  const { facts, model, score, values } = explorer;
  const { half, coverage } = facts.numbers;
  return [
    el("div", { role: "status" },
      el("p", { class: "note" }, explorer.isWhole ? "Prediction of the model" : `Prediction of the first ${facts.trees.n_shown} ${model.head.estimators}`),
      el("p", { class: "answer", id: "prediction", "data-value": score.value }, named(facts.classes[0]), `: ${respond(facts, score.value)}`)),
    half === null ? null : el("p", { class: "note", id: "interval" }, `${percent(coverage)} interval: ${respond(facts, score.value - half)} to ${respond(facts, score.value + half)}.`),
    describeActual(explorer),
    el("p", { id: "sentence" }, ...describe(facts, model, values, score, 0)),
    showContributions(facts, model, values, score, 0),
  ];
}

function describeActual({ facts, model, chosen, isOwn, isWhole, proba }) {
  if (isOwn) return el("p", { class: "note" }, "Prediction for the edited values.");
  const actual = facts.samples.actual[chosen];
  const decimals = decimalsBetween(facts.response.low, facts.response.high);
  const [difference] = roundParts(proba[chosen], [actual - proba[chosen]], actual, decimals);
  const whole = isWhole ? "" : `The whole ${model.head.whole} predicts ${respond(facts, proba[chosen])}. `;
  return el("p", { class: "note" }, `${whole}Actual: ${exact(actual)}; actual minus predicted: ${change(difference, decimals)}.`);
}
