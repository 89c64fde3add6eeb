// One block, in the user's units: who is in it, how it decides, how far its rows belong to the class.

function showBlock(facts, model, tree, block) {
  const at = model.blockStart[tree] + block;
  const isLeaf = !model.left[at];
  const target = facts.classes[model.target[tree]];
  const names = facts.features.names;
  const share = model.share(tree, block);
  const parts = [
    el("h3", {}, `${isLeaf ? "Leaf" : "Block"} ${block}`),
    el("p", {}, `Learned from ${count(model.n_samples[at], "row")}; `, `${percent(share)} ${model.isCounted ? "belong" : "of their weight belongs"} to `, named(target), ".",
      model.isCounted ? "" : ` They weigh ${format(model.weight[at])} in all.`),
    showMix(facts, model, at),
  ];
  if (!isLeaf) parts.push(el("h3", {}, "Its hyperplane"), ...showHyperplane(model, names, target, tree, block));
  parts.push(el("h3", {}, "Its membership function"), ...showMembership(facts, model, names, target, tree, block));
  find("block").replaceChildren(...parts);
}

function showMix(facts, model, at) {
  const mix = Array.from(model.mix.slice(at * model.nClasses, (at + 1) * model.nClasses));
  const total = mix.reduce((sum, n) => sum + n, 0);
  if (!total) return el("p", { class: "note" }, "None of the rows given to this report comes here.");
  return el("div", {},
    el("div", { class: "stack", role: "img", "aria-label": mix.map((n, c) => `${facts.classes[c]}: ${n}`).join(", ") },
      mix.map((n, c) => el("i", { own: colour(c), style: { width: `${(100 * n) / total}%` } }))),
    el("ul", { class: "legend" }, mix.map((n, c) => (n ? el("li", {}, el("span", { class: "key", own: colour(c) }), named(facts.classes[c]), ` ${n}`) : null))),
    el("p", { class: "note" }, `Of the rows given to this report, ${total} come here.`));
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

function showHyperplane(model, names, target, tree, block) {
  const at = model.blockStart[tree] + block;
  const terms = model.terms("hyperplane", tree, block);
  const offset = terms.reduce((sum, term) => sum + term.unitWeight * model.centre[term.feature], model.offset[at]);
  const [left, right] = [model.left[at], model.left[at] + 1];
  const child = (block) => [`block ${block} (${percent(model.share(tree, block))} of its ${model.isCounted ? "rows" : "weight"} `, named(target), ")"];
  return [
    el("p", {}, `Below its offset a row goes left, to `, ...child(left), "; else right, to ", ...child(right), `. It weighs ${count(terms.length, "feature")}:`),
    bars(rowsOfWeights(terms, names, model.lift(tree, block)), { most: 1 }),
    el("p", { class: "note" }, `Bars: weight per typical spread, so that features can be compared; below, per unit of the feature. Offset ${format(model.offset[at])}.`),
    unfold("As a formula in your units", () => el("p", { class: "formula" }, "Right if ", ...sumOf(terms, names), ` ≥ ${format(offset)}`)),
  ];
}

function showMembership(facts, model, names, target, tree, block) {
  const at = model.blockStart[tree] + block;
  if (model.left[at] && !model.hasBranchingMembership)
    return [el("p", {}, "A forest keeps membership functions in its leaves only.")];
  const terms = model.terms("membership", tree, block);
  if (!terms.length) return [el("p", {}, `The same for every row here: ${format(model.clip(tree, block, model.intercept[at]), 3)}.`)];
  const base = terms.reduce((sum, term) => sum - term.unitWeight * model.centre[term.feature], model.intercept[at]);
  return [
    el("p", {}, `${format(model.intercept[at], 3)} for a row with typical values, and by feature:`),
    bars(rowsOfWeights(terms, names)),
    el("p", { class: "note" }, "Change of the membership per typical spread; below, per unit. The result is kept between 0 and 1."),
    unfold("As a formula in your units", () => el("p", { class: "formula" }, "Membership of ", named(target), ` = ${format(base)} + `, ...sumOf(terms, names))),
  ];
}
