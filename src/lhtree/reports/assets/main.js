// Builds the page from the facts.

import { showTerms } from "./curves.js";
import { count, cutAll, el, find, percent } from "./draw.js";
import { showGroups } from "./groups.js";
import { makeHead } from "./heads.js";
import { findColumns, Model } from "./model.js";
import { showCard, showFeatures, showOverview, showWarnings } from "./overview.js";
import { levelOf, RowExplorer, showPath } from "./row.js";
import { showBlock, TreeExplorer } from "./trees.js";

const facts = JSON.parse(find("facts").textContent);
facts.columns = findColumns(facts.features);
facts.tags = cutAll(facts.labels, 40);
const model = new Model(facts);
model.head = makeHead(facts, model);
showOverview(facts, model);
showGroups((facts.test || facts.given).groups, facts.test ? "held-out rows" : "supplied rows");
showWarnings(facts.warnings);
showFeatures(facts, model);
showCard(facts, model);

// No single tree of many explains a prediction, so trees come last, with the path of the row.
if (!facts.curves && facts.model.n_estimators > 1) {
  find("trees").append(find("path"));
  find("card").before(find("trees"));
  document.querySelector('nav a[href="#card"]').before(document.querySelector('nav a[href="#trees"]'));
}

// State that the two explorers share: the tree that is shown and the score of the present row.
const shown = { tree: 0, score: null };
if (facts.curves) showTerms(facts, model);
const trees = facts.curves ? null : new TreeExplorer(facts, model, (tree, block) => {
  showBlock(facts, model, tree, block);
  if (tree !== shown.tree) showWay(tree, shown.score);
});
function showWay(tree, score) {
  Object.assign(shown, { tree, score });
  if (!trees) return;
  trees.markWay(score);
  showPath(facts, model, score, score && score.values, tree, trees);
}
const row = new RowExplorer(facts, model, (score, isPicked) => {
  showWay(shown.tree, score);
  // A row that was picked is shown in the tree of its predicted class.
  if (trees && isPicked && model.nTargets > 1) trees.show(shown.tree - (shown.tree % model.nTargets) + score.prediction, 0);
});

// Largest difference between the probabilities of the page and of the model for the stored rows.
function compare() {
  let largest = 0;
  for (let i = 0; i < facts.samples.row.length; i++) {
    const { proba } = model.score(Array.from(row.X.subarray(i * model.nFeatures, (i + 1) * model.nFeatures)));
    proba.forEach((value, c) => (largest = Math.max(largest, Math.abs(value - row.proba[i * model.nClasses + c]))));
  }
  // Numbers have a unit, so that a difference counts in relation to them.
  return facts.response ? largest / (Math.max(Math.abs(facts.response.low), Math.abs(facts.response.high)) || 1) : largest;
}
const n = facts.samples.row.length;
const footer = find("footer");
footer.append(el("p", {}, `Created with lhtree ${facts.lhtree}. This file is self-contained: it loads and sends nothing. It contains ${count(n, "row")} of the data.`));
if (row.isWhole) {
  const largest = compare();
  footer.append(largest <= 1e-6
    ? el("p", { id: "agreement", "data-largest": largest }, `Verified on opening: for these rows, this page computes the same ${facts.response ? "predictions" : "probabilities"} as the model (largest difference: ${largest === 0 ? "none" : largest.toExponential(1)}).`)
    : el("p", { id: "agreement", class: "notice", "data-largest": largest }, `This browser computes ${facts.response ? "predictions" : "probabilities"} that differ from the model’s (largest difference: ${largest.toExponential(1)}). Do not rely on “Try a row”.`));
}

// For auditors at the console, and for the tests.
window.lhtree = {
  facts, model,
  row: () => row.values.map((value) => (Number.isNaN(value) ? null : value)),
  predict: (values) => model.score(values.map((value) => (value === null ? NaN : value))),
  percent, levelOf,
  visit: (block) => trees?.visit(block),
  contributions: (values, cls) => model.contributions(window.lhtree.predict(values), cls),
};
