// Heads: words and number formats for the outputs of trees. One class per head of the library; `facts.head` has the
// names of its classes and its nouns.

import { amount, change, colour, count, decimalsBetween, el, format, named, percent, roundParts, signed, tally, whole } from "./draw.js";
import { clip } from "./model.js";

class Head {
  decimals = 2; // of totals and contributions
  noun = ""; // of an amount

  constructor(facts, model) {
    Object.assign(this, { facts, model, sum: `the ${facts.head.total}` });
  }

  nameTarget(tree) {
    return named(this.facts.classes[this.model.target[tree]]);
  }

  share(tree, block) {
    return this.model.share(tree, block);
  }

  rows(tree, block, noun = "row") {
    return count(this.model.n_samples[this.model.blockStart[tree] + block], noun);
  }

  get width() {
    return this.model.isCounted ? "its number of training rows" : "the weight of its training rows";
  }

  get isLinear() {
    return this.facts.trees.arrays.low !== undefined;
  }

  tellPartial() {
    const { trees, model } = this.facts;
    return `This page contains only the first ${trees.n_shown} of ${model.n_estimators} ${this.estimators}, because the whole ${this.whole} would make it too large. Predictions below are those ${this.ofPart}.`;
  }

  write(value) {
    return amount(this.unit.factor * value, this.decimals);
  }

  // Figures of the contributions from a base to an end, which add up as printed.
  writeParts(base, parts, end) {
    const [first, last, ...values] = [base, end, ...parts].map((value) => this.unit.factor * value);
    return roundParts(first, values, last, this.decimals).map((value) => change(value, this.decimals));
  }

  // Contributions in the unit of the prediction or of the raw score.
  explainContributions(base, end) {
    return `${this.inUnit}They add up from ${this.origin}, ${this.write(base)}, to ${this.sum}, ${this.write(end)}. The change of value at each block is divided among its features by |weight| × standard deviation.${this.isLinear ? " In a linear leaf, every slope adds its own term." : ""}`;
  }
}

const noteColour = (facts, target) => ["Colour: ", el("span", { class: "key", own: colour(target) }), named(facts.classes[target]), ". "];

// Shares of classes: memberships, confidences and WOLF values.
class Wolf extends Head {
  decimals = 1;
  noun = " points";
  isSigned = false;
  whole = "forest";
  estimators = "trees per class";
  ofPart = "of these trees, not of the forest";
  leafTitle = "Membership function";
  leafNoun = "Membership";
  reasons = ["Main reasons for it:", "Main reasons against it:"];
  gain = "in impurity over all blocks, corrected for chance";
  unit = { factor: 100, name: "percentage points of membership", axis: "percentage points" };

  // Without confidences, the memberships of two classes are their probabilities, as in compact trees.
  get isProbability() {
    const { classes, model } = this.facts;
    return classes.length === 2 && !model.confidence && !model.calibration;
  }

  get certainty() {
    return this.isProbability ? ["probability", "probabilities"] : ["WOLF", "WOLF values"];
  }

  hint(onScreen) {
    const { classes } = this.facts;
    return [
      classes.length === 2 ? "One tree for both classes: it separates " : "Each class has its own tree, which separates it from the other classes. ",
      ...(classes.length === 2 ? [named(classes[1]), " from ", named(classes[0]), ". "] : []),
      onScreen,
      this.model.isCounted
        ? "In the map, the width of a block is its number of training rows, and its colour the share of them that belongs to the tree’s class."
        : "The training rows were weighted, so map and list show weights: the width of a block is the weight of its rows, and its colour the share of that weight that belongs to the tree’s class."];
  }

  // "12 of 30 are red"; weights if rows were weighted.
  tell(tree, block) {
    const { model, facts } = this;
    const at = model.blockStart[tree] + block;
    const [own, all] = [model.isSmoothed(at) ? percent(this.share(tree, block)) : format(model.n_target[at], 7), format(model.weight[at], 7)];
    return (model.isCounted ? `${own} of ${all} are ` : `${own} of the weight ${all} is `) + facts.classes[model.target[tree]];
  }

  figure(tree, block) {
    const { model } = this;
    const at = model.blockStart[tree] + block;
    return `${model.isSmoothed(at) ? whole(this.share(tree, block)) : tally(model.n_target[at])} of ${tally(model.weight[at])}`;
  }

  mark(share) {
    return whole(share);
  }

  noteMap(target) {
    return noteColour(this.facts, target);
  }

  level(tree, block) {
    return clip(this.share(tree, block));
  }

  describeBlock(tree, block) {
    const { model } = this;
    return [`${this.rows(tree, block, "training row")}; `, `${percent(this.share(tree, block))} ${model.isCounted ? "belong" : "of their weight belongs"} to `, this.nameTarget(tree), model.isSmoothed(model.blockStart[tree] + block) ? " (smoothed)." : "."];
  }

  tellChild(tree, block) {
    return [`${percent(this.share(tree, block))} of its ${this.model.isCounted ? "rows" : "weight"} `, this.nameTarget(tree)];
  }

  tellIntercept(tree, block) {
    return `${format(this.model.intercept[this.model.blockStart[tree] + block], 3)} for a row of typical values`;
  }

  tellRange() {
    return "0 … 1";
  }

  start(base, end, cls) {
    return [`${percent(base)} of the ${this.model.isCounted ? "training rows are" : "weight of the training rows is"} `, named(this.facts.classes[cls]), ". "];
  }

  explainContributions(base, end) {
    return `In percentage points. They add up from ${percent(base)}, the share of ${this.model.isCounted ? "all training rows" : "the weight of all training rows"}, to the ${this.isProbability ? "probability" : "membership"} ${percent(end)}. The change at each block is divided among the features in proportion to their terms.`;
  }

  tellOnPath(tree, block) {
    const [share, rows] = [percent(this.share(tree, block)), this.rows(tree, block)];
    return [this.model.isCounted ? `${share} of ${rows} are ` : `${share} of the weight of ${rows} is `, this.nameTarget(tree)];
  }

  tellLeaf(way) {
    if (this.isProbability) return `probability ${format(way.membership)}`;
    return `membership ${format(way.membership)} × confidence ${format(way.confidence)} = ${format(way.membership * way.confidence)}`;
  }

  cardRows() {
    return [["Confidence", this.facts.model.confidence || "not used"]];
  }

  glossary() {
    if (this.isProbability) return [["Membership", "the probability of the tree’s class in a leaf."]];
    return [
      ["Membership", "the degree to which a row belongs to the tree’s class, from 0 to 1: a linear function of the features in the leaf."],
      ["Confidence", `the distance of the row from the ${this.facts.model.confidence === "path" ? "nearest" : "last"} hyperplane on its path, at most 1. It is not a probability.`],
      ["WOLF", "membership times confidence, averaged over the trees of a class. The class with the largest value is predicted."]];
  }
}

// Number formats of responses.
const ofNumbers = (facts) => ({
  inUnit: "",
  reasons: ["Raised most by", "Lowered most by"],
  unit: { factor: 1, name: `units of ${facts.labels[0]}`, axis: facts.labels[0] },
  decimals: decimalsBetween(facts.response.low, facts.response.high),
});

// The mean of the estimates of all trees.
class Mean extends Head {
  isSigned = false;
  whole = "forest";
  estimators = "trees";
  ofPart = "of these trees, not of the forest";
  leafTitle = "Estimate";
  leafNoun = "Estimate";
  gain = "of the squared error over all blocks, corrected for chance";

  constructor(facts, model) {
    super(facts, model);
    Object.assign(this, ofNumbers(facts), { origin: "the mean of the training rows" });
  }

  hint(onScreen) {
    return ["Every block splits the rows, and every leaf estimates ", named(this.facts.classes[0]), ". ", onScreen,
      `In the map, the width of a block is ${this.width}, and its colour their mean: the stronger, the larger.`];
  }

  tell(tree, block) {
    return `mean ${this.write(this.share(tree, block))} of ${this.rows(tree, block)}`;
  }

  figure(tree, block) {
    return format(this.share(tree, block), 3);
  }

  mark(share) {
    return format(share, 3);
  }

  noteMap(target) {
    return noteColour(this.facts, target);
  }

  // From 0 for the smallest to 1 for the largest response.
  level(tree, block) {
    const { low, high } = this.facts.response;
    return high > low ? clip((this.share(tree, block) - low) / (high - low)) : 1;
  }

  describeBlock(tree, block) {
    return [`${this.rows(tree, block, "training row")}; mean of `, this.nameTarget(tree), `: ${this.write(this.share(tree, block))}.`];
  }

  tellChild(tree, block) {
    return [`mean ${this.write(this.share(tree, block))}`];
  }

  tellIntercept(tree, block) {
    return `${this.write(this.share(tree, block))} where the features have the means of the block`;
  }

  tellRange(at) {
    const { low, high } = this.model;
    return low ? `the range of the training rows, ${this.write(low[at])} … ${this.write(high[at])}` : "0 … 1";
  }

  start(base, end) {
    return [`The prediction is ${this.write(end)}, starting from ${this.origin}, ${this.write(base)}. `];
  }

  tellOnPath(tree, block) {
    return [`${this.rows(tree, block)}, mean of `, this.nameTarget(tree), ` ${this.write(this.share(tree, block))}`];
  }

  tellLeaf(way) {
    return `estimate ${this.write(way.membership)}${way.membership === way.estimate ? "" : ` (${this.write(way.estimate)}, clipped to the range of its rows)`}`;
  }

  cardRows() {
    return [];
  }

  glossary() {
    const { model, response } = this.facts;
    const range = `It never leaves the range of the training responses, ${this.write(response.low)} to ${this.write(response.high)}.`;
    return [
      ["Estimate", "what a leaf predicts: the mean response of its training rows, or a linear function of the features, clipped to the range of their responses."],
      ["Prediction", `${model.n_trees === 1 ? "the estimate of the leaf that a row reaches" : "the mean of the estimates of all trees"}. ${range}`]];
  }
}

// Rounds that add values to the raw score of a class.
class RawScore extends Head {
  isSigned = true;
  whole = "model";
  estimators = "rounds";
  ofPart = "after these rounds, not of the model";
  leafTitle = null; // leaves show their slopes, if they have any
  certainty = ["probability", "probabilities"];
  inUnit = "In raw score. ";
  reasons = ["Main reasons for it:", "Main reasons against it:"];
  gain = "of the loss over all blocks";
  unit = { factor: 1, name: "raw score", axis: "raw score" };
  origin = "the base";
  round = " per class";

  hint(onScreen) {
    const { classes } = this.facts;
    const isOne = classes.length <= 2;
    return [
      `Every round adds a tree${isOne ? "" : this.round}; the values of the leaves that a row reaches add up to ${this.sum} of `,
      isOne ? named(classes.at(-1)) : "the class", ". ", onScreen,
      `In the map, the width of a block is ${this.width}, and its colour the value: violet raises ${this.sum}, red lowers it.`];
  }

  tell(tree, block) {
    return `value ${signed(this.share(tree, block))}, ${this.rows(tree, block)}`;
  }

  figure(tree, block) {
    return signed(this.share(tree, block));
  }

  mark(share) {
    return signed(share, 2);
  }

  noteMap(target) {
    return [`Colour: what the block adds to ${this.sum} of `, named(this.facts.classes[target]), ". "];
  }

  // From -1 to 1, relative to the largest value of the tree.
  level(tree, block, most) {
    return this.share(tree, block) / most;
  }

  // The value of a block; a linear leaf adds it to a row in the middle of its rows.
  describeBlock(tree, block, isLeaf) {
    const { slopeStart, blockStart } = this.model;
    const at = blockStart[tree] + block;
    const isLinear = slopeStart[at] < slopeStart[at + 1];
    return [`${this.rows(tree, block, "training row")}; value ${signed(this.share(tree, block), 4)}: what the ${isLeaf ? "leaf adds" : "block would add"} to ${this.sum} of `, this.nameTarget(tree),
      isLinear ? " where its features have their means." : isLeaf ? "." : " if it were a leaf."];
  }

  tellChild(tree, block) {
    return [`value ${signed(this.share(tree, block))}`];
  }

  // With two classes, a raw score is the log odds of a probability, unless this is calibrated.
  start(base, end, cls) {
    if (this.facts.classes.length === 2 && !this.model.calibration) {
      const chance = (raw) => percent(1 / (1 + Math.exp(-raw)));
      return ["The columns change the probability of ", named(this.facts.classes[cls]), ` from ${chance(base)} to ${chance(end)} (raw score ${this.write(base)} to ${this.write(end)}). `];
    }
    return ["The raw score of ", named(this.facts.classes[cls]), ` is ${this.write(end)}, starting from ${this.origin}, ${this.write(base)}. `];
  }

  tellOnPath(tree, block) {
    return [`value ${signed(this.share(tree, block))} for `, this.nameTarget(tree)];
  }

  tellLeaf(way) {
    return `adds ${signed(way.membership, 4)} to ${this.sum}${way.membership === way.estimate ? "" : ` (${signed(way.estimate, 4)}, clipped to its range)`}`;
  }

  cardRows() {
    return [["Rounds", this.facts.model.n_estimators]];
  }

  glossary() {
    return [
      ["Value", "what a leaf adds to the raw score of the tree’s class. Other blocks have one, too: contributions follow its changes."],
      ...(this.isLinear ? [["Linear leaf", "a leaf whose addition depends on the row: its value, plus the slope of every feature times the distance of the row from the mean of the leaf. The sum is clipped to the range of the steps that the training rows of the leaf asked for."]] : []),
      ["Raw score", this.facts.classes.length === 2 ? "the base plus what the leaves add that a row reaches, one per tree: the log odds of the second class." : "the base of a class plus what the leaves add that a row reaches in its trees. The class with the largest raw score is predicted; probabilities are their softmax."]];
  }
}

// Rounds of one tree each, whose blocks have a value of every class.
class JointScore extends RawScore {
  round = " of all classes, shown once for each class";
}

// Rounds that add values to a number or to its logarithm.
class NumberScore extends RawScore {
  constructor(facts, model) {
    super(facts, model);
    Object.assign(this, ofNumbers(facts));
    if (facts.head.is_log) Object.assign(this, { unit: { factor: 1, name: this.sum, axis: "log of the prediction" }, decimals: 3 });
  }

  start(base, end) {
    return [`T${this.sum.slice(1)} is ${this.write(end)}, starting from ${this.origin}, ${this.write(base)}. `];
  }

  glossary() {
    return [
      ["Value", "what a leaf adds to the sum of the trees. Other blocks have one, too: contributions follow its changes."],
      ["Prediction", `the base plus what the leaves add that a row reaches, one per tree${this.facts.head.is_log ? "; e to the power of that sum" : ""}.`]];
  }
}

// Rounds and a forest, whose parts add up.
const pooled = (Base) => class extends Base {
  whole = "ensemble";
  ofPart = "of these rounds and trees, not of the ensemble";

  tellPartial() {
    const { trees, model, pool } = this.facts;
    return `This page contains only the first ${trees.n_shown} of ${model.n_estimators} rounds and the first ${pool.trees.n_shown} of ${pool.n_estimators} trees of the forest, because the whole ensemble would make it too large. Predictions below are those ${this.ofPart}.`;
  }

  explainContributions(base, end) {
    return `${super.explainContributions(base, end)} Contributions of the forest are in proportion to the change of its part in the sum.`;
  }

  cardRows() {
    const { pool } = this.facts;
    return [...super.cardRows(), ["Trees of the forest", pool.n_estimators],
      ["Weights", `${format(pool.boost_weight, 3)} boosted trees, ${format(pool.weight, 3)} forest`],
      this.facts.response ? ["Out-of-fold R²", format(pool.cv_score, 3)] : ["Out-of-fold log loss", format(-pool.cv_score, 3)]];
  }

  glossary() {
    const part = this.facts.response ? "its weight times its prediction" : "its weight times the logarithm of the membership of a class, or for two classes the log odds,";
    return [...super.glossary(), ["Forest", `adds ${part} to the sum of the boosted trees. The trees shown on this page are the boosted ones.`]];
  }
};

// Curves and surfaces, whose values add up.
const additive = (Base) => class extends Base {
  gain = "of the loss over all steps";

  explainContributions(base, end) {
    return `${this.inUnit}They add up from ${this.origin}, ${this.write(base)}, to ${this.sum}, ${this.write(end)}. A contribution is the value of the curve of its column${this.facts.surfaces.length ? " plus half of that of each of its surfaces" : ""}.`;
  }

  cardRows() {
    const { curves, surfaces, model } = this.facts;
    return [["Curves", curves.length], ["Surfaces", surfaces.length], ["Steps", model.n_leaves]];
  }

  glossary() {
    const { head, response, classes, curves, surfaces } = this.facts;
    const all = "the base plus the values of all curves and surfaces";
    return [
      ["Curve", `what a column adds to ${this.sum}, a value for each of its steps: a range of numbers, a category or missing values.`],
      ["Surface", "what a pair of columns adds to its two curves."],
      ["Band", "standard error of a value, from the differences between models of different rows (bags)."],
      ...([...curves, ...surfaces.flatMap(({ scales }) => scales)].some(({ name }) => name.endsWith("(mean target)"))
        ? [["Mean target", "a column of many categories is read as a number: the mean of the target over the training rows of the category."]] : []),
      response ? ["Prediction", `${all}${head.is_log ? "; e to the power of that sum" : ""}.`]
        : ["Raw score", classes.length === 2 ? `${all}: the log odds of the second class.` : `${all} of a class. The class with the largest raw score is predicted; probabilities are their softmax.`]];
  }
};

const KINDS = {
  WolfHead: Wolf, MeanHead: Mean, RawScoreHead: RawScore, JointScoreHead: JointScore, NumberScoreHead: NumberScore,
  PoolHead: pooled(RawScore), JointPoolHead: pooled(JointScore), NumberPoolHead: pooled(NumberScore),
};

export function makeHead(facts, model) {
  const Kind = KINDS[facts.head.kinds.find((kind) => KINDS[kind])];
  return new (facts.curves ? additive(Kind) : Kind)(facts, model);
}
