// The model in the page: the same arithmetic, in the same order, as the scorer of the library.

const ARRAYS = {
  uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, float32: Float32Array, float64: Float64Array,
};

// Arrays are embedded as base64 of their little-endian bytes, so every bit arrives.
export function decodeArray({ dtype, base64 }) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new ARRAYS[dtype](bytes.buffer);
}

function addUp(sizes) {
  const starts = new Uint32Array(sizes.length + 1);
  for (let i = 0; i < sizes.length; i++) starts[i + 1] = starts[i] + sizes[i];
  return starts;
}

export const clip = (value, low = 0, high = 1) => (value < low ? low : value > high ? high : value);

// Year, month and weekday (1: Monday) of a day since 1970-01-01.
export function divideDay(day) {
  const date = new Date(Math.floor(day) * 86400000);
  return [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDay() || (Number.isNaN(day) ? NaN : 7)];
}

// The columns of the table: one feature each (and maybe an indicator), one per category, one per target, or the parts of a date.
export function findColumns({ names, groups }) {
  const groupAt = new Map(groups.map((group) => [group.first, group]));
  const columns = [];
  for (let f = 0; f < names.length; f += columns.at(-1).features.length) {
    const { name, categories, statistics, n_features, newest } = groupAt.get(f) || { name: names[f], categories: null, statistics: null, n_features: 1 };
    const features = Array.from({ length: n_features }, (_, i) => f + i);
    columns.push({ name, categories, statistics: statistics && statistics.map(decodeArray), hasIndicator: !categories && n_features === 2, features, ...(newest === undefined ? {} : { newest }) });
  }
  return columns;
}

// Index of the category of a row; -1 if it is missing or unknown.
export const categoryOf = ({ features, statistics }, values) =>
  statistics ? statistics[0].indexOf(values[features[0]]) : features.findIndex((f) => values[f] === 1);

// "colour = red", or the name of a column of numbers or of a missing category.
export function nameOf(column, values) {
  const category = column.categories ? categoryOf(column, values) : -1;
  return category < 0 ? column.name : `${column.name} = ${column.categories[category]}`;
}

export class Model {
  constructor(facts) {
    const trees = facts.trees;
    for (const name of Object.keys(trees.arrays)) this[name] = decodeArray(trees.arrays[name]);
    this.blockStart = addUp(this.n_blocks);
    this.weightStart = addUp(this.n_weights);
    this.slopeStart = addUp(this.n_slopes);
    this.nTrees = this.target.length;
    this.nTargets = facts.classes.length === 2 ? 1 : facts.classes.length;
    this.nClasses = facts.classes.length;
    this.nFeatures = facts.features.names.length;
    this.centre = decodeArray(facts.features.centre);
    this.scale = decodeArray(facts.features.scale);
    this.prior = decodeArray(facts.prior);
    this.confidence = facts.model.confidence;
    this.link = facts.model.link;
    this.base = facts.model.base && decodeArray(facts.model.base);
    this.most = facts.model.clip;
    this.calibration = facts.model.calibration;
    this.hasBranchingMembership = trees.has_branching_membership;
    this.axes = trees.axes;
    if (!this.n_target) this.value = findValues(this);
    this.mix = this.countMix();
    this.isCounted = facts.model.is_counted;
    this.pool = facts.pool && makePool(facts);
    // Without normalisation, typical values are unknown.
    this.knowsUsual = this.scale.some((scale) => scale !== 1) || this.centre.some((centre) => centre !== 0);
  }

  // Rows of every class in every block; leaves are embedded, parents are the sums of their children.
  countMix() {
    const mix = new Float64Array(this.left.length * this.nClasses);
    let leaf = 0;
    for (let block = 0; block < this.left.length; block++)
      if (!this.left[block]) {
        for (let c = 0; c < this.nClasses; c++) mix[block * this.nClasses + c] = this.leaf_mix[leaf * this.nClasses + c];
        leaf++;
      }
    for (let tree = 0; tree < this.nTrees; tree++) {
      const start = this.blockStart[tree];
      for (let block = this.blockStart[tree + 1] - 1; block >= start; block--)
        if (this.left[block])
          for (let c = 0; c < this.nClasses; c++) {
            const child = (start + this.left[block]) * this.nClasses + c;
            mix[block * this.nClasses + c] = mix[child] + mix[child + this.nClasses];
          }
    }
    return mix;
  }

  // z = float32((x - centre) / scale), clipped; a missing value (NaN) sits at the centre.
  normalise(values) {
    const z = new Float32Array(this.nFeatures);
    for (let f = 0; f < this.nFeatures; f++) {
      const quotient = (values[f] - this.centre[f]) / this.scale[f];
      z[f] = Number.isNaN(values[f]) ? 0 : Math.max(-1e30, Math.min(1e30, quotient));
    }
    return z;
  }

  // The term at position p goes to lane p mod 8; lanes are added in one fixed order.
  laneSum(values, features, begin, end, z) {
    const lanes = [0, 0, 0, 0, 0, 0, 0, 0];
    for (let p = begin; p < end; p++) lanes[(p - begin) % 8] += values[p] * z[features[p]];
    return (lanes[0] + lanes[4] + (lanes[2] + lanes[6])) + (lanes[1] + lanes[5] + (lanes[3] + lanes[7]));
  }

  // Feature sum of a block. In a boosted model several features are clipped; a single one is not, and where it is
  // missing, its block has a side for it.
  featureSum(at, { z, clipped, values }) {
    const [begin, end] = [this.weightStart[at], this.weightStart[at + 1]];
    if (!this.missing || end - begin > 1)
      return this.laneSum(this.hyperplane_weight, this.hyperplane_feature, begin, end, clipped);
    const feature = this.hyperplane_feature[begin];
    if (Number.isNaN(values[feature]) && this.missing[at] !== 1) return this.missing[at] === 0 ? -Infinity : Infinity;
    return this.hyperplane_weight[begin] * z[feature];
  }

  // A sum in the user's units, from left to right.
  unitSum(sum, values, features, begin, end, filled) {
    for (let p = begin; p < end; p++) sum += values[p] * filled[features[p]];
    return sum;
  }

  // The normalised feature sum of a block that is evaluated in the user's units, on the same side of its offset.
  sumOfUnits(at, filled) {
    const [begin, end] = [this.weightStart[at], this.weightStart[at + 1]];
    const y = this.unitSum(0, this.hyperplane_unit, this.hyperplane_feature, begin, end, filled) - this.unit_offset[at];
    let largest = begin;
    for (let p = begin; p < end; p++)
      if (Math.abs(this.hyperplane_weight[p]) > Math.abs(this.hyperplane_weight[largest])) largest = p;
    const perNorm = Math.abs(this.hyperplane_weight[largest] / (this.hyperplane_unit[largest] * this.scale[this.hyperplane_feature[largest]]));
    const sum = this.offset[at] + y * perNorm;
    return { sum, y: y < 0 ? Math.min(sum - this.offset[at], -Number.MIN_VALUE) : Math.max(sum - this.offset[at], 0) };
  }

  // The path of a row down one tree. Block numbers are those within the tree.
  walk(tree, row) {
    const z = row.clipped;
    const start = this.blockStart[tree];
    const steps = [];
    let block = 0;
    let confidence = 1;
    while (this.left[start + block]) {
      const at = start + block;
      const plain = this.unit_offset ? null : this.featureSum(at, row);
      const { sum, y } = plain === null ? this.sumOfUnits(at, row.filled) : { sum: plain, y: plain - this.offset[at] };
      const distance = Math.min(Math.abs(y), 1);
      if (this.confidence === "last") confidence = distance;
      else if (this.confidence === "path") confidence = Math.min(confidence, distance);
      const next = this.left[at] + (y < 0 ? 0 : 1);
      steps.push({ block, sum, offset: this.offset[at], y, side: y < 0 ? "left" : "right", next });
      block = next;
    }
    const estimate = this.estimate(tree, block, z, row.filled);
    return { tree, steps, leaf: block, estimate, membership: this.clip(tree, block, estimate), confidence };
  }

  estimate(tree, block, z, filled) {
    const at = this.blockStart[tree] + block;
    const [begin, end] = [this.slopeStart[at], this.slopeStart[at + 1]];
    if (begin === end) return this.intercept[at];
    if (this.unit_offset) return this.unitSum(this.unit_intercept[at], this.membership_unit, this.membership_feature, begin, end, filled);
    return this.intercept[at] + this.laneSum(this.membership_slope, this.membership_feature, begin, end, z);
  }

  // Estimates are clipped to the bounds of the leaf. Without bounds, memberships stay between 0 and 1.
  clip(tree, block, estimate) {
    const at = this.blockStart[tree] + block;
    if (this.low) return clip(estimate, this.low[at], this.high[at]);
    return this.base ? estimate : clip(estimate);
  }

  // The values of a row, filled and normalised, whole and clipped.
  prepare(values) {
    const z = this.normalise(values);
    const filled = Float64Array.from(values, (value, f) => (Number.isNaN(value) ? this.centre[f] : Math.abs(value) < 1e-100 ? 0 : clip(value, -1e100, 1e100)));
    return { values, filled, z, clipped: z.map((each) => clip(each, -this.most, this.most)) };
  }

  score(values) {
    return LINKS[this.link](this, this.prepare(values));
  }

  // Terms of a block's hyperplane or membership, with z of a row if given; largest first. Slopes of boosted models
  // apply to the distance from the mean of the leaf.
  terms(kind, tree, block, z) {
    const at = this.blockStart[tree] + block;
    const [starts, features, values] =
      kind === "hyperplane"
        ? [this.weightStart, this.hyperplane_feature, this.hyperplane_weight]
        : [this.slopeStart, this.membership_feature, this.membership_slope];
    const terms = [];
    for (let p = starts[at]; p < starts[at + 1]; p++) {
      const feature = features[p];
      const from = this.membership_mean && kind === "membership" ? this.membership_mean[p] : 0;
      const term = z ? values[p] * (z[feature] - from) : values[p];
      const units = kind === "hyperplane" ? this.hyperplane_unit : this.membership_unit;
      const unitWeight = this.unit_offset ? units[p] : values[p] / this.scale[feature];
      terms.push({ feature, weight: values[p], unitWeight, term, from });
    }
    return terms.sort((a, b) => Math.abs(b.term) - Math.abs(a.term) || Math.abs(b.weight) - Math.abs(a.weight));
  }

  // Outcome of a block: the share of the target, the mean response or, in a boosted model, the value.
  share(tree, block) {
    const at = this.blockStart[tree] + block;
    return this.value ? this.value[at] : this.clip(tree, block, this.n_target[at] / this.weight[at]);
  }

  // Whether the share of the target was smoothed towards the share in all rows.
  isSmoothed(at) {
    return this.isCounted && !Number.isInteger(this.n_target[at]);
  }

  // Outcome of the right child of a branching block minus that of the left child.
  lift(tree, block) {
    const left = this.left[this.blockStart[tree] + block];
    return this.share(tree, left + 1) - this.share(tree, left);
  }

  // The feature of a block with a single one; null for hyperplanes of several features.
  single(tree, block) {
    const at = this.blockStart[tree] + block;
    const begin = this.weightStart[at];
    return this.missing && this.weightStart[at + 1] - begin === 1 ? this.hyperplane_feature[begin] : null;
  }

  // Base and contributions of the features, which add up to the membership of a class. Every change on the path, from
  // the share of the root to the membership of the leaf, is divided among the features of the block that pull to the
  // side taken: each has its term minus a part of the offset in proportion to its weight. If nothing pulls, the sizes
  // of the weights count; if all are 0, the features share equally. Same rule as in Python (lhtree.explain).
  contributions(score, cls) {
    if (this.pool) return addForest(this.pool, score, cls, addChanges(this, score, cls));
    if (this.axes) return addCurves(this, score, cls);
    if (this.value) return addChanges(this, score, cls);
    const isMirrored = this.nClasses === 2 && cls === 0;
    const own = score.walks.filter((way) => this.nClasses === 2 || this.target[way.tree] === cls);
    const sign = (isMirrored ? -1 : 1) / own.length;
    const byFeature = new Float64Array(this.nFeatures);
    let base = 0;
    const deal = (change, terms, shift, side) => {
      const weights = terms.reduce((sum, term) => sum + Math.abs(term.weight), 0);
      const part = (term) => (weights > 0 ? Math.abs(term.weight) / weights : 1 / terms.length);
      const pull = (term) => Math.max(side * (term.term - part(term) * shift), 0);
      for (const size of [pull, part]) {
        const total = terms.reduce((sum, term) => sum + size(term), 0);
        if (total === 0) continue;
        for (const term of terms) byFeature[term.feature] += (size(term) / total) * change * sign;
        return;
      }
    };
    for (const way of own) {
      const root = this.share(way.tree, 0);
      base += (isMirrored ? 1 - root : root) / own.length;
      for (const step of way.steps) {
        const change = this.share(way.tree, step.next) - this.share(way.tree, step.block);
        deal(change, this.terms("hyperplane", way.tree, step.block, score.z), step.offset, step.y < 0 ? -1 : 1);
      }
      const share = this.share(way.tree, way.leaf);
      const shift = share - this.intercept[this.blockStart[way.tree] + way.leaf];
      const terms = this.terms("membership", way.tree, way.leaf, score.z);
      deal(way.membership - share, terms, shift, way.membership < share ? -1 : 1);
    }
    return { base, byFeature };
  }
}

// The forest of an ensemble. `total` is what its contributions add up to, by class, `add` the part of totals in the raw
// score of a class, and `slope` the derivative of that part. A number is weighted; memberships are logarithms.
function makePool(facts) {
  const { weight, least_membership, centre, scale, model, trees } = facts.pool;
  const forest = new Model({ ...facts, pool: null, model, trees, features: { ...facts.features, centre, scale } });
  if (model.link === "mean") return { forest, total: ({ value }) => [value], add: ([value]) => weight * value, slope: () => weight };
  const isPair = forest.nClasses === 2;
  const bound = (membership) => Math.max(membership, least_membership);
  return {
    forest,
    total: ({ membership }) => membership,
    add: (total, cls) => weight * (Math.log(bound(total[cls])) - (isPair ? Math.log(bound(total[1 - cls])) : 0)),
    slope: (total, cls) => weight * (1 / bound(total[cls]) + (isPair ? 1 / bound(total[1 - cls]) : 0)),
  };
}

// Base and contributions plus the contributions of the forest, multiplied by the ratio of the change of its part in the raw score to
// the change of its total. Same rule as in Python (lhtree.explain).
function addForest(pool, score, cls, own) {
  const total = pool.total(score.ofForest);
  const parts = total.map((_, k) => pool.forest.contributions(score.ofForest, k));
  const base = parts.map((part) => part.base);
  const step = total[cls] - base[cls];
  const factor = Math.abs(step) > 1e-9 ? (pool.add(total, cls) - pool.add(base, cls)) / step : pool.slope(base, cls);
  const byFeature = own.byFeature.map((value, f) => value + factor * parts[cls].byFeature[f]);
  return { base: own.base + pool.add(base, cls), byFeature, clipped: own.clipped + factor * (parts[cls].clipped || 0) };
}

// WOLF values with their fall-backs, as predict and predict_proba do.
function scoreWolf(model, row) {
  const [wolf, membership, confidence, counts] = [0, 1, 2, 3].map(() => new Array(model.nClasses).fill(0));
  const walks = [];
  for (let tree = 0; tree < model.nTrees; tree++) {
    const way = model.walk(tree, row);
    const target = model.target[tree];
    walks.push(way);
    const add = (cls, mu) => {
      wolf[cls] += way.confidence * mu;
      membership[cls] += mu;
      confidence[cls] += way.confidence;
      counts[cls] += 1;
    };
    add(target, way.membership);
    if (model.nClasses === 2) add(0, 1 - way.membership);
  }
  for (const sums of [wolf, membership, confidence])
    for (let cls = 0; cls < model.nClasses; cls++) sums[cls] /= counts[cls];
  const isZero = (scores) => scores.every((score) => score === 0);
  let settled = wolf;
  let fallback = null;
  if (isZero(settled)) [settled, fallback] = [membership, "membership"];
  if (isZero(settled)) [settled, fallback] = [Array.from(model.prior), "prior"];
  const total = settled.reduce((sum, score) => sum + score, 0);
  const proba = settled.map((score) => score / total);
  const prediction = settled.indexOf(Math.max(...settled));
  const score = { ...row, walks, wolf, membership, confidence, proba, prediction, fallback };
  return withCalibration(model, score, proba.slice(model.nClasses - model.nTargets));
}

// The base plus the values of the leaves, by target, and the paths.
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

// Raw scores and probabilities by class. With two classes, the first mirrors the second.
function scoreRaw(model, row) {
  const { raw, walks } = addTrees(model, row);
  const ofForest = model.pool && model.pool.forest.score(row.values);
  if (ofForest) raw.forEach((score, target) => (raw[target] = score + model.pool.add(model.pool.total(ofForest), model.nClasses === 2 ? 1 : target)));
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
  return withCalibration(model, { ...row, walks, rawScore, proba, prediction, ofForest, fallback: null }, raw);
}

// Value of every block: its estimate where its features have their means. In a regression tree, the mean response.
function findValues(model) {
  const values = Float64Array.from(model.intercept);
  for (let block = 0; block < values.length; block++) {
    let sum = 0;
    for (let p = model.slopeStart[block]; p < model.slopeStart[block + 1]; p++) sum += model.membership_slope[p] * model.membership_mean[p];
    values[block] += sum;
  }
  return values;
}

// Base and contributions of the features, which add up to the raw score of a class or to the prediction. The base is
// the initial score plus the values of all roots. Changes of value on the path are divided by |weight| × spread; slopes
// of leaves add their own terms; what clipping changes belongs to no feature. Same rule as in Python (lhtree.explain).
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

// Base and contributions of an additive model: the values of its curves. A surface is divided equally between its two
// columns. Same rule as in Python (lhtree.explain).
function addCurves(model, score, cls) {
  const isPair = model.nClasses === 2;
  const sign = isPair && cls === 0 ? -1 : 1;
  const byFeature = new Float64Array(model.nFeatures);
  for (const { tree, membership } of score.walks.filter((way) => isPair || model.target[way.tree] === cls))
    for (const f of model.axes[tree]) byFeature[f] += (sign * membership) / model.axes[tree].length;
  return { base: sign * model.base[isPair ? 0 : cls], byFeature };
}

// The prediction of a number, computed by finish from the sum of all trees.
const scoreNumber = (finish) => (model, row) => {
  const walks = Array.from({ length: model.nTrees }, (_, tree) => model.walk(tree, row));
  const sum = walks.reduce((sum, way) => sum + way.membership, model.base ? model.base[0] : 0);
  const ofForest = model.pool && model.pool.forest.score(row.values);
  const value = finish(sum + (ofForest ? model.pool.add([ofForest.value]) : 0), model.nTrees);
  return { ...row, walks, value, proba: [value], prediction: 0, ofForest, fallback: null };
};

// Calibrated probabilities from the scores of the targets, which are raw scores or uncalibrated probabilities. Same
// arithmetic as cpp/lhtree/score/heads.cpp.
function calibrate({ kind, knots }, scores, nClasses) {
  const logistic = (raw) => (raw > 0 ? 1 / (1 + Math.exp(-raw)) : Math.exp(raw) / (1 + Math.exp(raw)));
  const map = ({ x, y }, score) => {
    if (kind === "sigmoid") return logistic(x[0] * score + y[0]);
    if (!(score > x[0])) return y[0];
    const next = x.findIndex((each) => each > score);
    if (next < 0) return y[y.length - 1];
    return y[next - 1] + ((score - x[next - 1]) / (x[next] - x[next - 1])) * (y[next] - y[next - 1]);
  };
  const own = scores.map((score, target) => map(knots[target], score));
  if (nClasses === 2) return [1 - own[0], own[0]];
  const total = own.reduce((sum, each) => sum + each, 0);
  return own.map((each) => (total === 0 ? 1 / nClasses : each / total));
}

// A score with calibrated probabilities, if the model has a calibration; `from` are the scores to map.
function withCalibration(model, score, from) {
  if (!model.calibration) return score;
  const proba = calibrate(model.calibration, from, model.nClasses);
  return { ...score, uncalibrated: score.proba, proba, prediction: proba.indexOf(Math.max(...proba)) };
}

// One function per link of the library: from a prepared row to its score.
const LINKS = {
  wolf: scoreWolf,
  logistic: scoreRaw,
  softmax: scoreRaw,
  mean: scoreNumber((sum, n) => sum / n),
  identity: scoreNumber((sum) => sum),
  log: scoreNumber((sum) => Math.exp(Math.min(sum, 709))), // e^710 is infinite
};
