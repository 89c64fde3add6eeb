// A row to pick or to type: what the model says of it, computed here, and why.

const FIRST_FIELDS = 12;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

// NaN for an empty field, which counts as missing; undefined for what is no finite number.
function parseValue(text) {
  const trimmed = text.trim().replace("−", "-");
  if (trimmed === "") return NaN;
  const value = Number(trimmed);
  return NUMBER.test(trimmed) && Number.isFinite(value) ? value : undefined;
}

// A value at a share of the way from low to high, with as few digits as still move with every step of a slider.
function between(low, high, share) {
  const value = low * (1 - share) + high * share;
  const digits = -Math.floor(Math.log10(high / 4000 - low / 4000));
  const scale = 10 ** Math.abs(digits);
  const rounded = digits > 0 ? Number(value.toFixed(Math.min(100, digits))) : Math.round(value / scale) * scale;
  return Math.max(low, Math.min(high, rounded));
}

class RowExplorer {
  constructor(facts, model, onscore) {
    Object.assign(this, { facts, model, onscore, chosen: 0, isOwn: false });
    const { samples, features } = facts;
    this.X = decodeArray(samples.X);
    this.proba = decodeArray(samples.proba);
    this.low = decodeArray(features.low);
    this.high = decodeArray(features.high);
    features.digits = Array.from(this.low, (low, f) => digitsBetween(low, this.high[f]));
    this.values = Array.from({ length: model.nFeatures }, () => NaN);
    this.fields = new Map();
    this.choices = [];
    this.isWhole = facts.trees.n_shown === facts.model.n_estimators;
    find("row-hint").append(onScreen("Pick a row or enter values. "), "The page computes the prediction exactly as the model does. An empty field is a missing value.");
    if (!this.isWhole)
      find("row-hint").after(el("p", { class: "notice", id: "partial" }, model.isBoosted
        ? `This page contains only the first ${facts.trees.n_shown} of ${facts.model.n_estimators} rounds, because the whole model would make it too large. Predictions below are those after these rounds, not of the model.`
        : `This page contains only the first ${facts.trees.n_shown} of ${facts.model.n_estimators} trees${model.isRegression ? "" : " per class"}, because the whole forest would make it too large. Predictions below are those of these trees, not of the forest.`));
    this.makePicker();
    this.makeFields();
    this.pick(0);
  }

  makePicker() {
    const { samples, classes } = this.facts;
    const isNumber = this.model.isRegression;
    const titles = isNumber ? { wrong: "Largest errors first", right: "Other rows" }
      : { wrong: "Wrong predictions", unsure: "Correct, lowest probability first", right: "Correct predictions" };
    const truth = (i) => (isNumber ? respond(this.facts, samples.actual[i]) : cut(classes[samples.codes[i]], 40));
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
    const [low, high, digits] = [this.low[f], this.high[f], this.facts.features.digits[f]];
    const input = el("input", { type: "text", id, inputmode: "decimal", autocomplete: "off", spellcheck: "false", placeholder: "missing", "data-feature": f, oninput: () => this.type(f, input.value) });
    const slider = el("input", { type: "range", min: 0, max: 1000, "aria-label": `${this.facts.features.names[f]}, from ${format(low, digits)} to ${format(high, digits)}`, disabled: !(low < high), oninput: () => this.slide(f, slider.value / 1000) });
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
    // The page computes with all digits of a row that was picked; its field shows those that matter.
    const digits = this.facts.features.digits[f] + 2;
    field.input.value = Number.isNaN(value) ? "" : String(Number.isInteger(value) ? value : Number(value.toPrecision(Math.min(17, digits))));
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
    slider.setAttribute("aria-valuetext", isBad ? "not a number" : format(value, this.facts.features.digits[f]));
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
    this.values[f] = between(this.low[f], this.high[f], share);
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
    for (const { hasIndicator, features: [f, indicator] } of this.facts.columns)
      if (hasIndicator) this.values[indicator] = Number(Number.isNaN(this.values[f]));
    const isBad = this.values.some((value) => value === undefined);
    this.score = isBad ? null : this.model.score(this.values);
    if (isBad) find("answer").replaceChildren(el("p", { role: "status" }, "Correct the marked value to get a prediction."));
    else showAnswer(this);
    this.onscore(this.score, isPicked);
  }
}
