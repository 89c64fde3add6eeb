// What a boosted model makes of a row: raw scores, probabilities, contributions. The latter serve regressions, too.

// The base and what the trees add to it, by target, and the ways through them.
function addTrees(model, row) {
  const raw = Array.from(model.base);
  const walks = [];
  for (let tree = 0; tree < model.nTrees; tree++) {
    const way = model.walk(tree, row);
    walks.push(way);
    raw[tree % model.nTargets] += way.membership;
  }
  return { raw, walks };
}

// Raw scores and the probabilities that the link makes of them, by class. Of two classes the first mirrors the second.
function scoreBoosted(model, row) {
  const { raw, walks } = addTrees(model, row);
  const rawScore = model.link === "logistic" ? [-raw[0], raw[0]] : raw;
  const largest = Math.max(...rawScore);
  let proba = raw.map((score) => Math.exp(score - largest));
  if (model.link === "logistic") {
    const e = Math.exp(-Math.abs(raw[0]));
    proba = raw[0] > 0 ? [e, 1] : [1, e];
  }
  const total = proba.reduce((sum, each) => sum + each, 0);
  proba = proba.map((each) => each / total);
  const prediction = model.link === "logistic" ? Number(raw[0] > 0) : raw.indexOf(largest);
  return withCalibration(model, { ...row, walks, rawScore, proba, prediction, fallback: null }, raw);
}

// Value of every block: what it estimates where its features have their means. Of a regression tree, the mean response.
function findValues(model) {
  const values = Float64Array.from(model.intercept);
  for (let block = 0; block < values.length; block++) {
    let sum = 0;
    for (let p = model.slopeStart[block]; p < model.slopeStart[block + 1]; p++) sum += model.membership_slope[p] * model.membership_mean[p];
    values[block] += sum;
  }
  return values;
}

// How the raw score of a class came about: from the base (the score before the first tree, and the values of all
// roots) by the changes of value on every way, shared by |weight| × spread, and by the slopes of leaves; what the ranges
// of leaves take away belongs to no feature. The same as _add_changes and _add_slopes in explain/_batch.py.
function addChanges(model, score, cls) {
  const own = score.walks.filter((way) => model.nClasses === 2 || model.target[way.tree] === cls);
  const sign = model.nClasses === 2 && cls === 0 ? -1 : 1;
  const byFeature = new Float64Array(model.nFeatures);
  let base = model.base ? sign * model.base[model.nClasses === 2 ? 0 : cls] : 0;
  let clipped = 0;
  for (const way of own) {
    base += sign * model.share(way.tree, 0);
    for (const step of way.steps) {
      const change = sign * (model.share(way.tree, step.next) - model.share(way.tree, step.block));
      const at = model.blockStart[way.tree] + step.block;
      const shares = model.hyperplane_share.subarray(model.weightStart[at], model.weightStart[at + 1]);
      const total = shares.reduce((sum, share) => sum + share, 0);
      shares.forEach((share, i) => (byFeature[model.hyperplane_feature[model.weightStart[at] + i]] += (share / total) * change));
    }
    for (const { feature, term } of model.terms("membership", way.tree, way.leaf, score.clipped)) byFeature[feature] += sign * term;
    clipped += sign * (way.membership - way.estimate);
  }
  const n = model.base ? 1 : own.length; // a forest takes the mean
  return { base: base / n, byFeature: byFeature.map((value) => value / n), clipped: clipped / n };
}

// When a row goes left and right in a block with a single feature, in the user's units: the same as
// TreeView.conditions. Null where a hyperplane of several features decides.
function conditionsOf(facts, model, tree, block) {
  const feature = model.single(tree, block);
  if (feature === null) return null;
  const at = model.blockStart[tree] + block;
  const column = facts.columns.find(({ features }) => features.includes(feature));
  const bound = format(model.centre[feature] + model.scale[feature] * model.offset[at], 6);
  const isOneHot = column.categories && !column.statistics;
  const sides = isOneHot
    ? ["≠", "="].map((sign) => `${sign} ${column.categories[feature - column.features[0]]}`)
    : ["<", "≥"].map((sign) => `${sign} ${bound}`);
  const gaps = facts.features.has_gaps;
  if (model.missing[at] !== 1 && (!gaps || gaps[feature])) sides[model.missing[at] / 2] += " or missing";
  const name = facts.features.names[feature];
  const subject = isOneHot ? column.name : column.statistics ? `mean target of ${name}` : name;
  return { column, feature, isOneHot, subject, left: sides[0], right: sides[1] };
}

// Why a row takes its side in such a block: "age 33 < 41.5", "colour ≠ red" or "age is missing".
function reasonOf(facts, model, values, tree, step) {
  const { column, feature, isOneHot, subject, ...sides } = conditionsOf(facts, model, tree, step.block);
  if (Number.isNaN(values[feature])) return [named(column.name), " is missing"];
  const bound = sides[step.side].replace(/ or missing$/, "");
  if (isOneHot) return [named(subject), ` ${bound}`];
  const value = `${format(values[feature], facts.features.digits[feature])} ${bound}`;
  return column.categories ? [named(nameOf(column, values)), ` (${value})`] : [named(subject), ` ${value}`];
}
