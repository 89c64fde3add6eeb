// What a boosted model makes of a row: raw scores, probabilities, contributions.

// Raw scores and the probabilities that the link makes of them, by class. Of two classes the first mirrors the second.
function scoreBoosted(model, row) {
  const raw = Array.from(model.base);
  const walks = [];
  for (let tree = 0; tree < model.nTrees; tree++) {
    const way = model.walk(tree, row);
    walks.push(way);
    raw[tree % model.nTargets] += way.membership;
  }
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
  return { ...row, walks, rawScore, proba, prediction, fallback: null };
}

// How the raw score of a class came about: from the base (the score before the first tree, and the values of all
// roots) by the changes of value on every way, shared by |weight| × spread. The same as _add_changes in
// explain/_batch.py.
function addChanges(model, score, cls) {
  const own = score.walks.filter((way) => model.nClasses === 2 || model.target[way.tree] === cls);
  const sign = model.nClasses === 2 && cls === 0 ? -1 : 1;
  const byFeature = new Float64Array(model.nFeatures);
  let base = sign * model.base[model.nClasses === 2 ? 0 : cls];
  for (const way of own) {
    base += sign * model.share(way.tree, 0);
    for (const step of way.steps) {
      const change = sign * (model.share(way.tree, step.next) - model.share(way.tree, step.block));
      const at = model.blockStart[way.tree] + step.block;
      const shares = model.hyperplane_share.subarray(model.weightStart[at], model.weightStart[at + 1]);
      const total = shares.reduce((sum, share) => sum + share, 0);
      shares.forEach((share, i) => (byFeature[model.hyperplane_feature[model.weightStart[at] + i]] += (share / total) * change));
    }
  }
  return { base, byFeature };
}

// When a row goes left and right in a block with a single feature, in the user's units: the same as
// TreeView.conditions. Null where a hyperplane of several features decides.
function conditionsOf(facts, model, tree, block) {
  const feature = model.single(tree, block);
  if (feature === null) return null;
  const at = model.blockStart[tree] + block;
  const column = facts.columns.find(({ features }) => features.includes(feature));
  const bound = format(model.centre[feature] + model.scale[feature] * model.offset[at], 6);
  const sides = column.categories
    ? ["≠", "="].map((sign) => `${sign} ${column.categories[feature - column.features[0]]}`)
    : ["<", "≥"].map((sign) => `${sign} ${bound}`);
  const gaps = facts.features.has_gaps;
  if (model.missing[at] !== 1 && (!gaps || gaps[feature])) sides[model.missing[at] / 2] += " or missing";
  return { column, subject: column.name, left: sides[0], right: sides[1] };
}

// Why a row takes its side in such a block: "age 33 < 41.5", "colour ≠ red" or "age is missing".
function reasonOf(facts, model, values, tree, step) {
  const { column, subject, ...sides } = conditionsOf(facts, model, tree, step.block);
  const f = column.features[0];
  if (Number.isNaN(values[f])) return [named(subject), " is missing"];
  const bound = sides[step.side].replace(/ or missing$/, "");
  return [named(subject), column.categories ? ` ${bound}` : ` ${format(values[f], facts.features.digits[f])} ${bound}`];
}
