// The answer for a row: prediction, sentence, contributions and the path through a tree.

function showAnswer(explorer) {
  const { facts, model, score, values } = explorer;
  if (model.isRegression) return renew(find("answer"), answerNumber(explorer));
  const { classes } = facts;
  const best = score.prediction;
  const order = classes.map((_, c) => c).sort((a, b) => score.proba[b] - score.proba[a]);
  const parts = [
    el("div", { role: "status" },
      el("p", { class: "note" }, explorer.isWhole ? "Prediction of the model" : `Prediction of the first ${facts.trees.n_shown} ${model.isBoosted ? "rounds" : "trees per class"}`),
      el("p", { class: "answer", id: "prediction", "data-class": best }, named(classes[best]), ` (probability ${percent(score.proba[best])})`)),
    bars(order.map((c) => ({ name: classes[c], value: score.proba[c], exact: score.proba[c], figure: percent(score.proba[c]), own: colour(c) })), { both: false, most: 1 }),
    score.uncalibrated ? el("p", { class: "note", id: "calibrated" }, `Probabilities are calibrated; before calibration this class has ${percent(score.uncalibrated[best])}.`) : null,
    model.isBoosted || score.fallback || score.uncalibrated ? null : el("p", { class: "note" }, "Probabilities are shares of the WOLF values (membership × confidence): ", ...join(order.slice(0, 2).map((c) => [named(classes[c]), ` ${format(score.wolf[c], 3)}`])), "."),
    describeTruth(explorer),
    el("p", { id: "sentence" }, ...describe(facts, model, values, score, best)),
    showContributions(facts, model, values, score, best),
    model.isBoosted ? unfold("Raw scores", () => table(["class", "raw score", "probability"],
      classes.map((_, c) => [tag(facts, c), format(score.rawScore[c]), percent(score.proba[c])])))
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
  const forest = isWhole ? [] : [`The whole ${model.isBoosted ? "model" : "forest"} predicts `, named(classes[said]), ` (probability ${percent(own[said])}). `];
  return el("p", { class: "note" }, ...forest, "True class: ", named(classes[samples.codes[chosen]]), isWhole && said !== samples.codes[chosen] ? ". The prediction is wrong." : ".");
}

function contributionsOf(facts, model, score, cls) {
  const { base, byFeature, clipped = 0 } = model.contributions(score, cls);
  const parts = facts.columns.map((column) => ({ column, value: column.features.reduce((sum, f) => sum + byFeature[f], 0) })).filter((part) => part.value !== 0);
  const end = parts.reduce((sum, part) => sum + part.value, base + clipped);
  return { base, end, clipped, parts: parts.sort((a, b) => Math.abs(b.value) - Math.abs(a.value)) };
}

// How a value compares with those of the training rows: the same as find_levels in explain/_words.py.
const LEVELS = [[2, "very high"], [0.5, "high"], [-0.5, "typical"], [-2, "low"], [-Infinity, "very low"]];
function levelOf(model, value, z) {
  if (Number.isNaN(value)) return "missing";
  return model.knowsUsual ? LEVELS.find(([least]) => z >= least)[1] : "";
}

// Yes and no are neither high nor low.
const isFlag = (facts, f, value) =>
  decodeArray(facts.features.low)[f] === 0 && decodeArray(facts.features.high)[f] === 1 && (value === 0 || value === 1);

// "colour = red", or the name of a column of numbers or of a missing category.
function nameOf(column, values) {
  const category = column.categories ? categoryOf(column, values) : -1;
  return category < 0 ? column.name : `${column.name} = ${column.categories[category]}`;
}

// "proline 1065 (high, +12 points)", against the typical value; "colour = red (+12 points)". Raw scores have no unit, and
// responses their own.
function tell(facts, model, values, z, { column, value }) {
  const points = model.isRegression ? signed(value, 3) : model.isBoosted ? signed(value, 2) : `${signed(100 * value, 2)} points`;
  const f = column.features[0];
  const level = isFlag(facts, f, values[f]) ? "" : levelOf(model, values[f], z[f]);
  if (level === "missing") return [named(column.name), ` (missing, ${points})`];
  if (column.categories) return [named(nameOf(column, values)), ` (${points})`];
  return [named(column.name), ` ${format(values[f], facts.features.digits[f])} (${level && `${level}, `}${points})`];
}

const join = (lists) => lists.flatMap((list, i) => [i === 0 ? "" : i === lists.length - 1 ? " and " : ", ", ...list]);

function describe(facts, model, values, score, cls) {
  const { base, end, clipped, parts } = contributionsOf(facts, model, score, cls);
  const words = model.isRegression
    ? [`${model.isBoosted ? model.sum.replace("the", "The") : "The prediction"} is ${format(end)}, starting from ${model.isBoosted ? "the base" : "the mean of the training rows"}, ${format(base)}. `]
    : model.isBoosted
    ? ["The raw score of ", named(facts.classes[cls]), ` is ${format(end, 3)}, starting from the base, ${format(base, 3)}. `]
    : [`${percent(base)} of the ${model.isCounted ? "training rows are" : "weight of the training rows is"} `, named(facts.classes[cls]), ". "];
  const speaks = parts.filter((part) => part.value > 0).slice(0, 3);
  const against = parts.filter((part) => part.value < 0).slice(0, 2);
  if (speaks.length) words.push(model.isRegression ? "Raised most by " : "Main reasons for it: ", ...join(speaks.map((part) => tell(facts, model, values, score.z, part))), ". ");
  if (against.length) words.push(model.isRegression ? "Lowered most by " : "Main reasons against it: ", ...join(against.map((part) => tell(facts, model, values, score.z, part))), ". ");
  if (clipped) words.push(`Clipping to the ranges of the leaves changes it by ${signed(clipped, 2)}. `);
  if (score.fallback === "membership") words.push("The row lies on a hyperplane in every tree (confidence 0), so the memberships alone decide. ");
  if (score.fallback === "prior") words.push("Every membership is 0, so the class frequencies decide. ");
  const missing = facts.columns.filter((column) => Number.isNaN(values[column.features[0]])).length;
  if (missing) words.push(`${count(missing, "value is", "values are")} missing${model.isBoosted ? "" : ` and ${missing === 1 ? "is" : "are"} replaced by the typical value`}. `);
  const [low, high] = [decodeArray(facts.features.low), decodeArray(facts.features.high)];
  const numbers = facts.columns.filter((column) => !column.categories).map((column) => column.features[0]);
  const outside = numbers.filter((f) => values[f] < low[f] || values[f] > high[f]);
  if (outside.length) words.push("Outside the training range: ", ...join(outside.slice(0, 3).map((f) => [named(facts.features.names[f]), ` (${format(low[f], facts.features.digits[f])} to ${format(high[f], facts.features.digits[f])})`])), outside.length > 3 ? ` and ${outside.length - 3} more` : "", ". ");
  return words;
}

function showContributions(facts, model, values, score, cls) {
  const { base, end, clipped, parts } = contributionsOf(facts, model, score, cls);
  if (!parts.length) return null;
  const note = ({ categories, features: [f] }) => (Number.isNaN(values[f]) ? "missing" : categories ? "" : format(values[f], facts.features.digits[f]));
  const rows = parts.map(({ column, value }) => ({ name: nameOf(column, values), value, figure: signed(model.isBoosted || model.isRegression ? value : 100 * value, 3), note: note(column) }));
  if (clipped) rows.push({ name: "clipped to the ranges of the leaves", value: clipped, figure: signed(clipped, 3), note: "" });
  const how = model.hasValues
    ? `${model.isRegression ? "" : "In raw score. "}They add up from ${model.isBoosted ? "the base" : "the mean of the training rows"}, ${format(base)}, to ${model.sum}, ${format(end)}. The change of value at each block is divided among its features by |weight| × spread.${model.low ? " In a linear leaf, every slope adds its own term." : ""}`
    : `In percentage points. They add up from ${percent(base)}, the share of ${model.isCounted ? "all training rows" : "the weight of all training rows"}, to the membership ${percent(end)}. The change at each block is divided among the features in proportion to their terms.`;
  return el("div", { id: "contributions" }, el("h3", {}, "Contributions to ", named(facts.classes[cls])), bars(rows, { shown: 6 }),
    el("p", { class: "note" }, `${how} Contributions describe the model; they do not show causes.`));
}

function showPath(facts, model, score, values, tree, explorer) {
  const place = find("path");
  place.hidden = !score;
  if (!score) return;
  const way = score.walks[tree];
  const { names } = facts.features;
  const target = facts.classes[model.target[tree]];
  const share = (block) => {
    if (model.isBoosted) return [`value ${signed(model.share(tree, block))} for `, named(target)];
    const at = model.blockStart[tree] + block;
    const rows = count(model.n_samples[at], "row");
    if (model.isRegression) return [`${rows}, mean of `, named(target), ` ${format(model.share(tree, block))}`];
    const share = percent(model.share(tree, block));
    return [model.isCounted ? `${share} of ${rows} are ` : `${share} of the weight of ${rows} is `, named(target)];
  };
  const turn = (kind, block) => (kind === "hyperplane" ? model.lift(tree, block) : 1);
  const terms = (kind, block) => bars(model.terms(kind, tree, block, score.clipped).map((term) => ({ name: names[term.feature], value: term.term, figure: signed(term.term), note: `${signed(term.weight)} × ${format(score.clipped[term.feature] - term.from, 3)}`, own: evidence(term.term * turn(kind, block)) })), { shown: 6 });
  const link = (block, text) => el("button", { type: "button", class: "plain", onclick: () => explorer.visit(block) }, text);
  const steps = way.steps.map((step) => el("li", {},
    el("p", {}, link(step.block, `Block ${step.block}`), ": ", share(step.block)),
    model.single(tree, step.block) !== null ? el("p", { class: "formula" }, ...reasonOf(facts, model, values, tree, step), `: goes ${step.side}`) : el("p", { class: "formula" }, `feature sum ${format(step.sum)} − offset ${format(step.offset)} = ${signed(step.y, 4)}: goes ${step.side}`),
    model.single(tree, step.block) !== null ? null : unfold("Terms of the feature sum", () => terms("hyperplane", step.block))));
  steps.push(el("li", { class: "end" },
    el("p", {}, link(way.leaf, `Leaf ${way.leaf}`), ": ", share(way.leaf)),
    el("p", { class: "formula" }, model.isRegression && !model.isBoosted ? `estimate ${format(way.membership)}${way.membership === way.estimate ? "" : ` (${format(way.estimate)}, clipped to the range of its rows)`}` : model.isBoosted ? `adds ${signed(way.membership, 4)} to ${model.sum}${way.membership === way.estimate ? "" : ` (${signed(way.estimate, 4)}, clipped to its range)`}` : `membership ${format(way.membership)} × confidence ${format(way.confidence)} = ${format(way.membership * way.confidence)}`),
    model.terms("membership", tree, way.leaf).length ? unfold(model.hasValues ? "Slope times distance from the mean of the leaf" : "Terms of the membership", () => terms("membership", way.leaf)) : null));
  const number = facts.model.n_estimators > 1 ? ` (${model.isBoosted ? "round" : "tree"} ${Math.floor(tree / model.nTargets) + 1} of ${facts.model.n_estimators})` : "";
  const inner = steps.length > 40 ? [steps.slice(0, 20), el("li", {}, unfold(`${steps.length - 25} more blocks`, () => el("ol", { class: "steps" }, steps.slice(20, -5)))), steps.slice(-5)] : steps;
  renew(place,
    el("h3", {}, "Path through the tree for ", named(target), number),
    el("div", { class: "controls" }, explorer.makeControls()),
    el("ol", { class: "steps" }, inner));
}
