// One block, in the user's units: its rows, its hyperplane, its membership function.

function showBlock(facts, model, tree, block) {
  const at = model.blockStart[tree] + block;
  const isLeaf = !model.left[at];
  const target = facts.classes[model.target[tree]];
  const names = facts.features.names;
  const share = model.share(tree, block);
  const parts = [
    el("h3", {}, `${isLeaf ? "Leaf" : "Block"} ${block}`),
    model.isBoosted ? showValue(model, target, at, isLeaf, share) : model.isRegression ? el("p", {}, `${count(model.n_samples[at], "training row")}; mean of `, named(target), `: ${format(share)}.`, model.isCounted ? "" : ` Total weight: ${format(model.weight[at])}.`) : el("p", {}, `${count(model.n_samples[at], "training row")}; `, `${percent(share)} ${model.isCounted ? "belong" : "of their weight belongs"} to `, named(target), model.isSmoothed(at) ? " (smoothed)." : ".",
      model.isCounted ? "" : ` Total weight: ${format(model.weight[at])}.`),
    showMix(facts, model, at),
  ];
  if (!isLeaf) parts.push(el("h3", {}, model.single(tree, block) === null ? "Hyperplane" : "Condition"), ...showHyperplane(facts, model, names, target, tree, block));
  // Only leaves estimate. The membership functions of other blocks are in the model but not on the way of a row.
  const estimates = () => showMembership(model, names, target, tree, block);
  if (isLeaf && !model.isBoosted) parts.push(el("h3", {}, model.isRegression ? "Estimate" : "Membership function"), ...estimates());
  else if (!model.hasValues && model.hasBranchingMembership) parts.push(unfold("Membership function of this block", () => el("div", {}, estimates())));
  else if (model.slopeStart[at] < model.slopeStart[at + 1]) parts.push(el("h3", {}, "Slopes"), ...showSlopes(model, names, target, tree, block));
  find("block").replaceChildren(...parts);
}

// The value of a block of a boosted tree; of a linear leaf, what it adds to a row in the middle of its rows.
function showValue(model, target, at, isLeaf, value) {
  const isLinear = model.slopeStart[at] < model.slopeStart[at + 1];
  return el("p", {}, `${count(model.n_samples[at], "training row")}; value ${signed(value, 4)}: what the ${isLeaf ? "leaf adds" : "block would add"} to ${model.sum} of `, named(target), isLinear ? " where its features have their means." : isLeaf ? "." : " if it were a leaf.",
    model.isCounted ? "" : ` Total weight: ${format(model.weight[at])}.`);
}

function showMix(facts, model, at) {
  const mix = Array.from(model.mix.slice(at * model.nClasses, (at + 1) * model.nClasses));
  const total = mix.reduce((sum, n) => sum + n, 0);
  if (!total) return el("p", { class: "note" }, "None of the supplied rows reaches this block.");
  const reach = el("p", { class: "note" }, `${count(total, "supplied row reaches", "supplied rows reach")} this block.`);
  if (model.isRegression) return reach;
  const order = mix.map((_, c) => c).filter((c) => mix[c]);
  const isLong = order.length > MANY_CLASSES;
  if (isLong) order.sort((a, b) => mix[b] - mix[a]);
  const list = (some) => el("ul", { class: "legend" }, some.map((c) => el("li", {}, el("span", { class: "key", own: colour(c) }), named(facts.classes[c]), ` ${mix[c]}`)));
  return el("div", {},
    el("div", { class: "stack", role: "img", "aria-label": mix.map((n, c) => `${facts.classes[c]}: ${n}`).join(", ") },
      mix.map((n, c) => el("i", { own: colour(c), style: { width: `${(100 * n) / total}%` } }))),
    list(isLong ? order.slice(0, FIRST_CLASSES) : order),
    isLong ? unfold(`${order.length - FIRST_CLASSES} more classes`, () => list(order.slice(FIRST_CLASSES)), "more") : null,
    reach);
}

// A sum in the user's units: "0.003 × proline − 0.2 × hue".
function sumOf(terms, names) {
  return terms.flatMap((term, i) => [
    i === 0 ? (term.unitWeight < 0 ? "−" : "") : term.unitWeight < 0 ? " − " : " + ",
    `${format(Math.abs(term.unitWeight), 3)} × `, named(names[term.feature]),
  ]);
}

function rowsOfWeights(terms, names, turn = 1) {
  return terms.map((term) => ({ name: names[term.feature], value: term.weight, figure: signed(term.weight), note: `${signed(term.unitWeight)} per unit`, own: evidence(term.weight * turn) }));
}

function showHyperplane(facts, model, names, target, tree, block) {
  const at = model.blockStart[tree] + block;
  const terms = model.terms("hyperplane", tree, block);
  const offset = model.unit_offset ? model.unit_offset[at] : terms.reduce((sum, term) => sum + term.unitWeight * model.centre[term.feature], model.offset[at]);
  const [left, right] = [model.left[at], model.left[at] + 1];
  const child = (block) => model.isRegression && !model.isBoosted ? [`block ${block} (mean ${format(model.share(tree, block))})`] : model.isBoosted ? [`block ${block} (value ${signed(model.share(tree, block))})`] : [`block ${block} (${percent(model.share(tree, block))} of its ${model.isCounted ? "rows" : "weight"} `, named(target), ")"];
  const single = conditionsOf(facts, model, tree, block);
  if (single)
    return [el("p", {}, "If ", named(single.subject), ` ${single.left}, the row goes left to `, ...child(left), "; otherwise right to ", ...child(right), ".")];
  return [
    el("p", {}, `If the feature sum is below the offset, the row goes left to `, ...child(left), "; otherwise right to ", ...child(right), `. The hyperplane uses ${count(terms.length, "feature")}:`),
    bars(rowsOfWeights(terms, names, model.lift(tree, block)), { most: 1 }),
    el("p", { class: "note" }, `Bars: weights of the normalised features, comparable with each other; below them, weights per unit of the feature. Offset: ${format(model.offset[at])}.${model.isBoosted ? ` Normalised values are clipped to ±${model.most}; a missing value counts as 0.` : ""}`),
    unfold("Formula in original units", () => el("p", { class: "formula" }, "Right if ", ...sumOf(terms, names), ` ≥ ${format(offset)}`)),
  ];
}

// The slopes of a linear leaf of a boosted tree.
function showSlopes(model, names, target, tree, block) {
  const at = model.blockStart[tree] + block;
  const terms = model.terms("membership", tree, block);
  return [
    bars(rowsOfWeights(terms, names)),
    el("p", { class: "note" }, `Bars: slopes of the normalised features; below them, slopes per unit of the feature. What the leaf adds is clipped to ${signed(model.low[at])} … ${signed(model.high[at])}. Normalised values are clipped to ±${model.most}; a missing value counts as 0.`),
    unfold("Formula in original units", () => formulaOf(model, names, tree, block, terms, `Addition to ${model.sum} of `, named(target))),
  ];
}

function formulaOf(model, names, tree, block, terms, ...what) {
  const constant = model.intercept[model.blockStart[tree] + block];
  const base = terms.reduce((sum, term) => sum - term.unitWeight * model.centre[term.feature], constant);
  return el("p", { class: "formula" }, ...what, ` = ${format(base)} + `, ...sumOf(terms, names));
}

function showMembership(model, names, target, tree, block) {
  const at = model.blockStart[tree] + block;
  const terms = model.terms("membership", tree, block);
  if (!terms.length) return [el("p", {}, `Constant for all rows of this block: ${format(model.clip(tree, block, model.intercept[at]), 3)}.`)];
  return [
    el("p", {}, model.isRegression ? `${format(model.share(tree, block))} where the features have the means of the block, plus, by feature:` : `${format(model.intercept[at], 3)} for a row of typical values, plus, by feature:`),
    bars(rowsOfWeights(terms, names)),
    el("p", { class: "note" }, "Bars: slopes of the normalised features; below them, slopes per unit of the feature. The result is clipped to " + (model.isRegression && model.low ? `the range of the training rows, ${format(model.low[at])} … ${format(model.high[at])}.` : "0 … 1.")),
    unfold("Formula in original units", () => formulaOf(model, names, tree, block, terms, model.isRegression ? "Estimate of " : "Membership of ", named(target))),
  ];
}
