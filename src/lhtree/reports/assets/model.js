// The model in the page: the same arithmetic, in the same order, as the library's scorer.

const ARRAYS = {
  uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, float32: Float32Array, float64: Float64Array,
};

// Arrays are embedded as base64 of their little-endian bytes, so every bit arrives.
function decodeArray({ dtype, base64 }) {
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

const clip = (value, low = 0, high = 1) => (value < low ? low : value > high ? high : value);

// The columns of the table: one feature each (and maybe an indicator), one per category, or one per target.
function findColumns({ names, groups }) {
  const groupAt = new Map(groups.map((group) => [group.first, group]));
  const columns = [];
  for (let f = 0; f < names.length; f += columns.at(-1).features.length) {
    const { name, categories, statistics, n_features } = groupAt.get(f) || { name: names[f], categories: null, statistics: null, n_features: 1 };
    const features = Array.from({ length: n_features }, (_, i) => f + i);
    columns.push({ name, categories, statistics: statistics && statistics.map(decodeArray), hasIndicator: !categories && n_features > 1, features });
  }
  return columns;
}

// Which category of its column a row has; -1 if it is missing or unknown.
const categoryOf = ({ features, statistics }, values) =>
  statistics ? statistics[0].indexOf(values[features[0]]) : features.findIndex((f) => values[f] === 1);

class Model {
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
    this.isBoosted = facts.model.base !== null;
    this.isRegression = facts.response !== null;
    this.hasValues = this.isBoosted || this.isRegression; // in the unit of what is predicted, instead of shares
    // What values add up to.
    this.sum = { mean: "the prediction", identity: "the prediction", log: "the logarithm of the prediction" }[this.link] || "the raw score";
    this.base = this.isBoosted ? decodeArray(facts.model.base) : null;
    this.most = facts.model.clip;
    this.calibration = facts.model.calibration;
    this.hasBranchingMembership = trees.has_branching_membership;
    if (this.hasValues) this.value = findValues(this);
    this.mix = this.countMix();
    this.isCounted = facts.model.is_counted;
    // Without normalisation nothing is known of what is usual.
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
    if (!this.isBoosted || end - begin > 1)
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

  // The way of a row down one tree. Block numbers are those within the tree.
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

  // Estimates stay between 0 and 1, unless the model has bounds of its own for every leaf; it has none if it is boosted
  // and all leaves are constant.
  clip(tree, block, estimate) {
    if (this.isBoosted && !this.low) return estimate;
    const at = this.blockStart[tree] + block;
    return this.low ? clip(estimate, this.low[at], this.high[at]) : clip(estimate);
  }

  // What a row needs on its ways: its values, and z, whole and clipped.
  prepare(values) {
    const z = this.normalise(values);
    const filled = Float64Array.from(values, (value, f) => (Number.isNaN(value) ? this.centre[f] : Math.abs(value) < 1e-100 ? 0 : clip(value, -1e100, 1e100)));
    return { values, filled, z, clipped: this.isBoosted ? z.map((each) => clip(each, -this.most, this.most)) : z };
  }

  score(values) {
    const row = this.prepare(values);
    if (this.isRegression) return scoreNumber(this, row);
    return this.isBoosted ? scoreBoosted(this, row) : this.scoreWolf(row);
  }

  // WOLF values with their fall-backs, as predict and predict_proba do.
  scoreWolf(row) {
    const { z } = row;
    const [wolf, membership, confidence, counts] = [0, 1, 2, 3].map(() => new Array(this.nClasses).fill(0));
    const walks = [];
    for (let tree = 0; tree < this.nTrees; tree++) {
      const way = this.walk(tree, row);
      const target = this.target[tree];
      walks.push(way);
      const add = (cls, mu) => {
        wolf[cls] += way.confidence * mu;
        membership[cls] += mu;
        confidence[cls] += way.confidence;
        counts[cls] += 1;
      };
      add(target, way.membership);
      if (this.nClasses === 2) add(0, 1 - way.membership);
    }
    for (const sums of [wolf, membership, confidence])
      for (let cls = 0; cls < this.nClasses; cls++) sums[cls] /= counts[cls];
    const isZero = (scores) => scores.every((score) => score === 0);
    let settled = wolf;
    let fallback = null;
    if (isZero(settled)) [settled, fallback] = [membership, "membership"];
    if (isZero(settled)) [settled, fallback] = [Array.from(this.prior), "prior"];
    const total = settled.reduce((sum, score) => sum + score, 0);
    const proba = settled.map((score) => score / total);
    const prediction = settled.indexOf(Math.max(...settled));
    const score = { ...row, walks, wolf, membership, confidence, proba, prediction, fallback };
    return withCalibration(this, score, proba.slice(this.nClasses - this.nTargets));
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
      const from = this.hasValues && kind === "membership" ? this.membership_mean[p] : 0;
      const term = z ? values[p] * (z[feature] - from) : values[p];
      const units = kind === "hyperplane" ? this.hyperplane_unit : this.membership_unit;
      const unitWeight = this.unit_offset ? units[p] : values[p] / this.scale[feature];
      terms.push({ feature, weight: values[p], unitWeight, term, from });
    }
    return terms.sort((a, b) => Math.abs(b.term) - Math.abs(a.term) || Math.abs(b.weight) - Math.abs(a.weight));
  }

  // What a block says of the target: its share, or the mean response; in a boosted model, its value.
  share(tree, block) {
    const at = this.blockStart[tree] + block;
    return this.hasValues ? this.value[at] : this.clip(tree, block, this.n_target[at] / this.weight[at]);
  }

  // Whether the share of the target is not that of the rows: it was drawn towards that of all.
  isSmoothed(at) {
    return this.isCounted && !Number.isInteger(this.n_target[at]);
  }

  // The same right of a branching block less that left of it: what going right says about the class.
  lift(tree, block) {
    const left = this.left[this.blockStart[tree] + block];
    return this.share(tree, left + 1) - this.share(tree, left);
  }

  // The feature of a block that has no other; null where several make a hyperplane.
  single(tree, block) {
    const at = this.blockStart[tree] + block;
    const begin = this.weightStart[at];
    return this.isBoosted && this.weightStart[at + 1] - begin === 1 ? this.hyperplane_feature[begin] : null;
  }

  // How the membership of a class came about: every change on the way, from the share of the root to the membership
  // of the leaf, is dealt to the features of the block that pull to the side taken: each has its term less a part of
  // the offset in proportion to its weight (where nothing pulls, the sizes of the weights count; where all are 0,
  // each alike). Base and contributions add up to the mean membership. The same as Walk.deal in explain/_walk.py.
  contributions(score, cls) {
    if (this.hasValues) return addChanges(this, score, cls);
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
