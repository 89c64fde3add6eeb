// Model card, warnings, importances: what the facts say, drawn.

function showOverview(facts) {
  const figures = facts.test || facts.given;
  const where = facts.test ? "held-out rows" : "rows given";
  document.title = `${facts.title} · lhtree report`;
  find("title").append(facts.title);
  const trees = facts.model.n_trees;
  find("lead").append(
    `${trees === 1 ? "One tree" : `${trees} trees`} with ${count(facts.model.n_blocks, "block")} over ${count(facts.features.names.length, "feature")}. `
    + `It predicts the right class for ${percent(figures.accuracy)} of ${count(figures.n_rows, facts.test ? "held-out row" : "given row")}; `
    + `always predicting the most frequent class would be right for ${percent(figures.most_frequent)}.`);
  find("measured-on").append(facts.test
    ? `Measured on ${count(figures.n_rows, "row")} held out, which the model should not have seen. On the ${count(facts.given.n_rows, "row")} given as training data its accuracy is ${percent(facts.given.accuracy)}.`
    : `Measured on the ${count(figures.n_rows, "row")} given to this report. If the model was trained on them, expect less on new rows.`);
  const tile = (value, label) => el("div", { class: "tile" }, el("b", {}, value), el("span", {}, label));
  find("tiles").append(
    tile(percent(figures.accuracy), `accuracy on ${where}`),
    tile(format(facts.data.n_rows, 7), "rows given"),
    tile(`${facts.features.n_used} of ${facts.columns.length}`, "columns used"),
    tile(format(facts.model.n_blocks, 7), `blocks in ${count(trees, "tree")}`));
  find("charts").append(showConfusion(facts, figures, where), showCoverage(figures, where), showCalibration(figures, where));
}

function showConfusion(facts, figures, where) {
  const cell = (n, row, isRight) => {
    const share = n / Math.max(1, row.reduce((sum, each) => sum + each, 0));
    const shade = `color-mix(in srgb, var(${isRight ? "--accent" : "--warn"}) ${Math.round(n ? 12 + 48 * share : 0)}%, var(--card))`;
    return el("td", { style: { background: shade } }, format(n, 7));
  };
  const known = (share) => (share === null ? "–" : percent(share));
  const isWide = facts.classes.length > 4 || facts.labels.some((name) => name.length > 12);
  return el("figure", { class: isWide ? "card full" : "card" }, el("figcaption", {}, "Confusion matrix"),
    table(["", ...facts.labels.map((name) => short(name, 40))], figures.confusion.map((row, i) => [
      short(facts.labels[i], 40), ...row.map((n, j) => cell(n, row, i === j))]), { class: "confusion" }),
    el("p", { class: "note" }, `Rows: true class; columns: predicted class. Counts of the ${where}.`),
    table(["class", "recall", "precision"], facts.labels.map((name, i) => [short(name, 40), known(figures.classes[i].recall), known(figures.classes[i].precision)])),
    el("p", { class: "note" }, "Recall: the share of a class that is predicted as such. Precision: the share of predictions of a class that are correct."));
}

function showCoverage(figures, where) {
  const { coverage, accuracy, threshold } = figures.coverage;
  const low = Math.min(0.9, Math.floor(10 * Math.min(...accuracy)) / 10);
  return chart({
    title: "Accuracy at each coverage", x: "coverage (share of rows decided)", y: "accuracy", low, high: 1,
    note: `Accuracy on the ${where} that are decided when those with the smallest WOLF values are left out.`,
    series: [{ points: coverage.map((share, i) => [share, accuracy[i]]), dot: coverage.length > 30 ? null : "dot" }],
    heads: ["coverage", "accuracy", "WOLF at least"],
    rows: coverage.map((share, i) => [percent(share), percent(accuracy[i]), format(threshold[i])]),
  });
}

function showCalibration(figures, where) {
  const bins = figures.calibration;
  const most = Math.max(...bins.map((bin) => bin.n_rows));
  return chart({
    title: "Calibration", x: "probability of the predicted class", y: "accuracy",
    note: `On the ${where}. On the dashed line, predictions with a probability of 80 % are correct 80 % of the time; above it, probabilities are too low. Larger dots hold more rows. Brier score ${format(figures.brier, 3)}, log loss ${format(figures.log_loss, 3)}.`,
    even: [[0, 0], [1, 1]],
    series: [{ className: null, points: bins.map((bin) => [bin.probability, bin.accuracy]), radius: bins.map((bin) => 4 + 8 * Math.sqrt(bin.n_rows / most)) }],
    heads: ["probability", "accuracy", "rows"],
    rows: bins.map((bin) => [percent(bin.probability), percent(bin.accuracy), bin.n_rows]),
  });
}

function showWarnings(warnings) {
  const place = find("warnings");
  if (!warnings.length) place.append(el("p", { class: "hint" }, "Nothing stood out: no tiny leaves, leaking or constant features, rare classes or missing values."));
  for (const { kind, title, text } of warnings) place.append(el("div", { class: "notice", "data-kind": kind }, el("h3", {}, title), el("p", {}, text)));
}

function showFeatures(facts) {
  const { importance, n_used: used } = facts.features;
  const rows = facts.columns.map(({ name }, i) => ({ name, value: importance[i], figure: percent(importance[i]) }))
    .filter(({ value }) => value > 0).sort((a, b) => b.value - a.value);
  const [weak, unused] = [used - rows.length, facts.columns.length - used];
  const place = find("feature-charts");
  place.append(el("figure", { class: "card" }, el("figcaption", {}, "Importances"),
    rows.length ? bars(rows, { both: false, shown: 12 }) : el("p", {}, "No column gains more than chance would."),
    el("p", { class: "note" }, "Share of the decrease in impurity over all blocks, less what chance would give."
      + (weak > 0 ? ` ${count(weak, "column is", "columns are")} used but cannot be told from noise.` : "") + (unused ? ` ${count(unused, "column is", "columns are")} never used.` : ""))));
  if (facts.sparsity) place.append(...showSparsity(facts.sparsity));
  else place.append(el("p", { class: "hint" }, "The sparsity curve was not measured for this report."));
}

function showSparsity(curve) {
  const last = Math.max(...curve.beta, 0.1);
  const at = (values) => curve.beta.map((beta, i) => [beta / last, values[i]]);
  const low = Math.max(0, Math.floor(10 * Math.min(...curve.accuracy.map((mean, i) => mean - curve.spread[i]))) / 10);
  const most = 4 * Math.ceil(Math.max(...curve.features_per_block) / 4 || 1);
  const ticks = [0, 0.25, 0.5, 0.75, 1].filter((beta) => beta <= last).map((beta) => beta / last);
  const xFormat = (share) => format(share * last, 2);
  const rows = curve.beta.map((beta, i) => [format(beta), percent(curve.accuracy[i]), percent(curve.spread[i]), format(curve.n_features[i], 3), format(curve.features_per_block[i], 3), format(curve.n_blocks[i], 3)]);
  const heads = ["beta", "accuracy", "±", "features", "per block", "blocks"];
  return [
    chart({
      title: "What simpler hyperplanes cost", x: "beta (weights up to it are left out)", y: "accuracy", low, high: 1, ticks, xFormat, heads, rows,
      note: `Mean accuracy over ${curve.n_splits} folds of cross-validation, with the spread. The sparsest within one standard error of the best is beta = ${format(curve.sparsest)}.`,
      series: [{ points: at(curve.accuracy), spread: curve.spread }],
    }),
    chart({
      title: "What they save", x: "beta", y: "features per block", low: 0, high: most, ticks, xFormat, yFormat: (v) => format(v, 2),
      note: "Features that a hyperplane weighs in the mean.",
      series: [{ points: at(curve.features_per_block) }],
    }),
  ];
}

function showCard(facts) {
  const { model, features, data, columns } = facts;
  const list = (pairs) => el("dl", {}, pairs.map(([term, text]) => [el("dt", {}, term), el("dd", {}, text)]));
  const missing = columns.filter((column) => features.missing[column.features[0]] > 0).length;
  find("facts-tables").append(
    el("div", { class: "card" }, el("h3", {}, "Data"),
      list([["Rows given", format(data.n_rows, 7)], ["Held-out rows", facts.test ? format(facts.test.n_rows, 7) : "none"], ["Features", columns.length === features.names.length ? columns.length : `${features.names.length} of ${count(columns.length, "column")}`], ["With missing values", missing ? count(missing, "column") : "none"]]),
      table(["class", "rows", "share"], facts.labels.map((name, i) => [short(name, 40), format(data.counts[i], 7), percent(data.counts[i] / data.n_rows)]))),
    el("div", { class: "card" }, el("h3", {}, "Model"),
      list([["Kind", model.kind], ["Trees", model.n_trees], ["Blocks", model.n_blocks], ["Leaves", model.n_leaves], ["Depth", model.depth], ["Confidence", model.confidence || "not used"], ["lhtree", facts.lhtree]])),
    el("div", { class: "card" }, el("h3", {}, "Parameters"),
      table(["parameter", "value"], model.parameters.map((each) => [each.name, el("td", { class: each.is_default ? "text" : "text changed" }, each.value)])),
      el("p", { class: "note" }, "Bold: not the default.")),
    el("div", { class: "card" }, el("h3", {}, "Words"), el("dl", { class: "words" }, [
      ["Block", "a step of a tree. Each weighs several features at once, as a hyperplane, and sends a row left or right; a leaf ends the way."],
      ["Feature sum", "the row’s values, each in units of its typical spread around its typical value, times the weights, added up. Below the offset: left. Else: right."],
      ["Membership", "how far a row belongs to the tree’s class, from 0 to 1: a straight-line estimate in the leaf."],
      ["Confidence", "how clearly the row lies on its side of the hyperplane, at most 1."],
      ["WOLF", "membership times confidence, in the mean over the trees of a class. The class with the largest wins."]].map(([term, text]) => [el("dt", {}, term), el("dd", {}, text)]))));
}
