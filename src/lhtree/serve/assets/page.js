// The page of a service: a form with a field per column, and an explanation that follows it.
const PAUSE = 150; // milliseconds after the last key
const MOST_OPTIONS = 25; // categories in a menu; more are suggested while typing
const MOST_BARS = 12;
const MOST_REASONS = 4;

const find = (id) => document.getElementById(id);

// Returns an element with attributes and children; text is never read as markup.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

function draw(tag, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function writeNumber(value) {
  const size = Math.abs(value);
  const isExtreme = size !== 0 && (size >= 1e9 || size < 1e-4);
  const text = isExtreme ? size.toExponential(3) : size.toLocaleString("en", { maximumSignificantDigits: 6 });
  return value < 0 ? `−${text}` : text;
}

// Writes parts of a sum with the same decimals: three digits of the largest.
function writePart(value, most) {
  const decimals = Math.min(Math.max(2 - Math.floor(Math.log10(most || 1)), 0), 12);
  const size = Math.abs(value).toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  return `${value < 0 ? "−" : "+"}${size}`;
}

// Writes a share in per cent, never rounded to all or nothing.
function writeShare(share) {
  if (share > 0 && share < 0.001) return "<0.1 %";
  if (share < 1 && share > 0.999) return ">99.9 %";
  return `${(100 * share).toFixed(1)} %`;
}

class Field {
  constructor(column, number, onInput) {
    this.column = column;
    const id = `field-${number}`;
    const hint = make("small", { id: `${id}-hint` }, this.describe());
    this.input = this.makeInput(id, number);
    this.input.setAttribute("aria-describedby", `${id}-hint`);
    this.hint = hint;
    this.element = make("div", { class: "field" }, make("label", { for: id }, column.name), this.input, hint);
    if (this.list) this.element.append(this.list);
    this.input.addEventListener("input", onInput);
  }

  describe() {
    const { kind, low, high, categories } = this.column;
    if (kind === "date") return `${low} to ${high} in training`;
    if (kind === "number") return low === null ? "number" : `${writeNumber(low)} to ${writeNumber(high)} in training`;
    return categories.length > MOST_OPTIONS ? `one of ${categories.length.toLocaleString("en")} categories` : "";
  }

  makeInput(id) {
    const { kind, categories, is_whole: isWhole } = this.column;
    if (kind === "date") return make("input", { id, type: "date" });
    if (kind === "number") {
      return make("input", { id, type: "text", inputmode: isWhole ? "numeric" : "decimal", spellcheck: "false" });
    }
    if (categories.length > MOST_OPTIONS) {
      this.list = make("datalist", { id: `${id}-list` }, ...categories.map((one) => make("option", { value: one })));
      return make("input", { id, type: "text", list: `${id}-list`, spellcheck: "false" });
    }
    const options = categories.map((one, place) => make("option", { value: place }, String(one)));
    return make("select", { id }, make("option", { value: "" }, "(missing)"), ...options);
  }

  set(value) {
    const { kind, categories } = this.column;
    if (value === null || value === undefined) this.input.value = "";
    else if (kind === "category" && !this.list) this.input.value = String(categories.indexOf(value));
    else this.input.value = String(value);
  }

  // Returns the value for JSON; undefined if the text is not valid.
  read() {
    const text = this.input.value.trim();
    const { kind, categories, low, high } = this.column;
    let value = null;
    let told = this.describe();
    if (kind === "category" && !this.list) value = text === "" ? null : categories[Number(text)];
    else if (kind === "category" && text !== "") {
      const known = categories.find((one) => String(one) === text);
      value = known === undefined ? text : known;
      if (known === undefined) told = "not seen in training";
    } else if (kind === "date") {
      value = this.input.validity.badInput ? undefined : text || null;
      if (value === undefined) told = "not a date";
      else if (text && (text < low || text > high)) told = `outside the training range, ${told}`;
    } else if (text !== "") {
      value = Number(text.replace(",", "."));
      if (!Number.isFinite(value)) {
        value = undefined;
        told = "not a number";
      } else if (low !== null && (value < low || value > high)) told = `outside the training range, ${told}`;
    }
    this.hint.textContent = told;
    this.element.classList.toggle("odd", told !== this.describe());
    this.input.setAttribute("aria-invalid", String(value === undefined));
    return value;
  }
}

class Page {
  constructor(model) {
    this.model = model;
    this.columns = model.columns.filter((column) => column.kind !== "ignored");
    this.fields = this.columns.map((column, number) => new Field(column, number, () => this.explainSoon()));
    find("fields").replaceChildren(...this.fields.map((field) => field.element));
    find("typical").addEventListener("click", () => this.fill());
    find("form").addEventListener("submit", (event) => event.preventDefault());
    this.describeModel();
    this.offerTargets();
    this.offerGoals();
    this.fill();
  }

  describeModel() {
    const { name, estimator, classes, outputs, sha256, versions, n_training_rows: nRows } = this.model;
    document.title = `${name} – lhtree`;
    find("name").textContent = name;
    const what = classes ? `${classes.length} classes` : outputs ? `${outputs.length} numbers` : "a number";
    const rows = nRows === null ? "" : `, trained on ${nRows.toLocaleString("en")} rows`;
    find("about").textContent = `${estimator} that predicts ${what} from ${this.columns.length} columns${rows}.`;
    find("predicted").textContent = classes ? "Prediction" : "Predicted number";
    find("version").replaceChildren(
      `sha256 ${sha256.slice(0, 12)} · lhtree ${versions.lhtree} · `,
      make("a", { href: "model" }, "model"), " · ", make("a", { href: "openapi.json" }, "OpenAPI"));
  }

  offerTargets() {
    const { classes, outputs, positive } = this.model;
    const targets = outputs || classes || [];
    find("choice").hidden = targets.length < 2;
    const first = outputs || positive !== null ? [] : [make("option", { value: "" }, "the prediction")];
    find("target").replaceChildren(...first, ...targets.map((one, place) => make("option", { value: place }, String(one))));
    if (outputs) find("target").value = String(Math.floor(outputs.length / 2));
    else if (positive !== null) find("target").value = String(classes.indexOf(positive));
    find("target").addEventListener("input", () => this.explainSoon());
    this.targets = targets;
  }

  offerGoals() {
    const { classes } = this.model;
    const button = make("button", { type: "button", id: "search" }, "Find changes");
    button.addEventListener("click", () => this.findChanges());
    if (classes) {
      const options = classes.map((one, place) => make("option", { value: place }, String(one)));
      this.goal = make("select", { id: "to" }, make("option", { value: "" }, "any other"), ...options);
      find("goal").replaceChildren(make("label", {}, "Class to reach ", this.goal), button);
    } else {
      this.ends = ["low", "high"].map((id) => make("input", { id, type: "text", inputmode: "decimal", placeholder: "no limit" }));
      find("goal").replaceChildren(
        make("label", {}, "At least ", this.ends[0]), make("label", {}, "At most ", this.ends[1]), button);
    }
  }

  fill() {
    for (const field of this.fields) field.set(field.column.example);
    this.explain();
  }

  // Returns the row of the form; null if a field is not valid.
  read() {
    const row = {};
    let isValid = true;
    for (const field of this.fields) {
      const value = field.read();
      if (value === undefined) isValid = false;
      else row[field.column.name] = value;
    }
    return isValid ? row : null;
  }

  explainSoon() {
    clearTimeout(this.timer);
    find("answer").classList.add("is-waiting");
    this.timer = setTimeout(() => this.explain(), PAUSE);
  }

  async ask(path, body) {
    this.waiting?.abort();
    this.waiting = new AbortController();
    const response = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "application/json" },
      body: JSON.stringify(body),
      signal: this.waiting.signal,
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.detail.map((one) => one.message).join(" "));
    return answer;
  }

  // Shows the answer to a request; a later request takes the place of an earlier one.
  async show(body, use) {
    const row = this.read();
    if (row === null) return this.complain("Correct the marked fields.");
    try {
      const place = find("target").value;
      const target = place === "" ? {} : { target: this.targets[Number(place)] };
      use(await this.ask("explain", { row, ...target, ...body }));
      this.complain("");
    } catch (error) {
      if (error.name !== "AbortError") this.complain(error.message);
    }
    return undefined;
  }

  complain(message) {
    find("problem").textContent = message;
    find("problem").hidden = !message;
    find("answer").classList.remove("is-waiting");
  }

  explain() {
    find("changes").replaceChildren();
    const reasons = Math.min(MOST_REASONS, this.columns.length);
    return this.show({ reasons }, (answer) => {
      this.showPrediction(answer);
      this.showContributions(answer);
      find("text").textContent = answer.text;
    });
  }

  showPrediction(answer) {
    const { classes, outputs } = this.model;
    find("prediction").textContent = classes ? String(answer.prediction) : writeNumber(answer.prediction);
    if (outputs) find("predicted").textContent = `Prediction of ${answer.target}`;
    const numbers = Object.entries(answer.predictions || {}).map(([name, value]) => make("tr", {},
      make("th", { scope: "row" }, name), make("td", { class: "number" }, writeNumber(value))));
    const rows = numbers.length ? numbers : Object.entries(answer.proba || {}).map(([name, share]) => make("tr", {},
      make("th", { scope: "row" }, name),
      make("td", {}, make("meter", { min: 0, max: 1, value: share, "aria-label": `probability of ${name}` })),
      make("td", { class: "number" }, writeShare(share))));
    find("shares").replaceChildren(...(rows.length ? [make("table", {}, make("tbody", {}, ...rows))] : []));
    find("warnings").replaceChildren(...(answer.warnings || []).map((one) => make("li", {}, one.message)));
  }

  showContributions(answer) {
    const parts = Object.entries(answer.contributions).filter(([, value]) => value !== 0);
    parts.sort((one, other) => Math.abs(other[1]) - Math.abs(one[1]));
    const shown = parts.slice(0, MOST_BARS);
    const rest = parts.slice(MOST_BARS).reduce((sum, [, value]) => sum + value, 0) + answer.clipped;
    if (rest !== 0) shown.push([parts.length > MOST_BARS ? "other columns" : "limits of leaves", rest]);
    const most = Math.max(...shown.map(([, value]) => Math.abs(value)), 0);
    const of = this.model.classes ? ` of ${answer.target}` : "";
    find("sum").textContent = `The ${answer.unit}${of} starts at ${writeNumber(answer.base)}; the columns add up to ${writeNumber(answer.total)}.`;
    const rows = shown.map(([name, value]) => make("tr", {},
      make("th", { scope: "row" }, name, " ", make("small", {}, this.writeValue(answer.row[name]))),
      make("td", {}, drawBar(value / (most || 1))),
      make("td", { class: "number" }, writePart(value, most))));
    find("bars").replaceChildren(make("table", {}, make("tbody", {}, ...rows)));
    const reasons = (answer.reasons || []).map((one) => make("li", {}, one.text));
    find("reasons").replaceChildren(...(reasons.length ? [make("h3", {}, "Main reasons"), make("ul", {}, ...reasons)] : []));
  }

  writeValue(value) {
    if (value === undefined) return "";
    if (value === null) return "missing";
    return typeof value === "number" ? writeNumber(value) : String(value);
  }

  findChanges() {
    const body = { counterfactuals: 3 };
    if (this.model.classes) {
      if (this.goal.value !== "") body.to = this.model.classes[Number(this.goal.value)];
    } else {
      body.to = this.ends.map((end) => (end.value.trim() === "" ? null : Number(end.value.replace(",", "."))));
    }
    find("changes").textContent = "Searching …";
    return this.show(body, (answer) => {
      const found = answer.counterfactuals.map((one) => make("li", {}, one.text));
      find("changes").replaceChildren(found.length ? make("ul", {}, ...found) : answer.no_counterfactuals);
    }).then(() => {
      if (find("changes").textContent === "Searching …") find("changes").replaceChildren();
    });
  }
}

// Draws a bar to the right (adds) or to the left (takes away) of the middle.
function drawBar(share) {
  const width = 50 * Math.abs(share);
  const svg = draw("svg", { class: "bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" });
  svg.append(
    draw("line", { class: "middle", x1: 50, x2: 50, y1: 0, y2: 10, "vector-effect": "non-scaling-stroke" }),
    draw("rect", { class: share < 0 ? "down" : "up", x: share < 0 ? 50 - width : 50, y: 1, width, height: 8 }));
  return svg;
}

async function start() {
  const response = await fetch("model");
  new Page(await response.json());
}

start().catch((error) => {
  find("problem").textContent = `The model cannot be shown: ${error.message}`;
  find("problem").hidden = false;
});
