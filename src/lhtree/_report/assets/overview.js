// Model card, warnings, importances: what the facts say, drawn.

function showOverview(facts) {
  const figures = facts.test || facts.given;
  const where = facts.test ? "held-out rows" : "supplied rows";
  document.title = `${facts.title} · lhtree report`;
  find("title").append(facts.title);
  const trees = facts.model.n_trees;
  find("lead").append(
    `${trees === 1 ? "One tree" : `${trees} trees`} with ${count(facts.model.n_blocks, "block")} over ${count(facts.features.names.length, "feature")}. `
    + `It predicts the right class for ${percent(figures.accuracy)} of ${count(figures.n_rows, facts.test ? "held-out row" : "supplied row")}; `
    + `always predicting the most frequent class would be right for ${percent(figures.most_frequent)}.`);
  find("measured-on").append(facts.test
    ? `Measured on ${count(figures.n_rows, "held-out row")}, which must not have been used for training. Accuracy on the ${count(facts.given.n_rows, "training row")}: ${percent(facts.given.accuracy)}.`
    : `Measured on the ${count(figures.n_rows, "supplied row")}. If the model was trained on them, expect lower figures on new data.`);
  const tile = (value, label) => el("div", { class: "tile" }, el("b", {}, value), el("span", {}, label));
  find("tiles").append(
    tile(percent(figures.accuracy), `accuracy on ${where}`),
    tile(format(facts.data.n_rows, 7), "supplied rows"),
    tile(`${facts.features.n_used} of ${facts.columns.length}`, "columns used"),
    tile(format(facts.model.n_blocks, 7), `blocks in ${count(trees, "tree")}`));
  find("charts").append(showConfusion(facts, figures, where), showCoverage(figures, where, facts.model.link !== "wolf"), showCalibration(figures, where));
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

function showCoverage(figures, where, isBoosted) {
  const { coverage, accuracy, threshold } = figures.coverage;
  const low = Math.min(0.9, Math.floor(10 * Math.min(...accuracy)) / 10);
  return chart({
    title: "Accuracy at each coverage", x: "coverage (share of rows decided)", y: "accuracy", low, high: 1,
    note: `Accuracy on the ${where} that are decided when those with the smallest ${isBoosted ? "probabilities" : "WOLF values"} of the predicted class are left out.`,
    series: [{ points: coverage.map((share, i) => [share, accuracy[i]]), dot: coverage.length > 30 ? null : "dot" }],
    heads: ["coverage", "accuracy", isBoosted ? "probability at least" : "WOLF at least"],
    rows: coverage.map((share, i) => [percent(share), percent(accuracy[i]), format(threshold[i])]),
  });
}

function showCalibration(figures, where) {
  const bins = figures.calibration;
  const most = Math.max(...bins.map((bin) => bin.n_rows));
  return chart({
    title: "Calibration", x: "probability of the predicted class", y: "accuracy",
    note: `On the ${where}. On the dashed line, predictions with a probability of 80 % are correct 80 % of the time; above it, probabilities are too low. Larger dots contain more rows. Brier score ${format(figures.brier, 3)}, log loss ${format(figures.log_loss, 3)}.`,
    even: [[0, 0], [1, 1]],
    series: [{ className: null, points: bins.map((bin) => [bin.probability, bin.accuracy]), radius: bins.map((bin) => 4 + 8 * Math.sqrt(bin.n_rows / most)) }],
    heads: ["probability", "accuracy", "rows"],
    rows: bins.map((bin) => [percent(bin.probability), percent(bin.accuracy), bin.n_rows]),
  });
}

function showWarnings(warnings) {
  const place = find("warnings");
  if (!warnings.length) place.append(el("p", { class: "hint" }, "No warnings: nothing notable among leaves, features, class sizes and missing values."));
  for (const { kind, title, text } of warnings) place.append(el("div", { class: "notice", "data-kind": kind }, el("h3", {}, title), el("p", {}, text)));
}

function showFeatures(facts) {
  const { importance, n_used: used } = facts.features;
  const rows = facts.columns.map(({ name }, i) => ({ name, value: importance[i], figure: percent(importance[i]) }))
    .filter(({ value }) => value > 0).sort((a, b) => b.value - a.value);
  const [weak, unused] = [used - rows.length, facts.columns.length - used];
  const place = find("feature-charts");
  place.append(el("figure", { class: "card" }, el("figcaption", {}, "Feature importances"),
    rows.length ? bars(rows, { both: false, shown: 12 }) : el("p", {}, "No column is more informative than chance."),
    el("p", { class: "note" }, (facts.model.link !== "wolf" ? "Share of the decrease of the loss over all blocks." : "Share of the decrease in impurity over all blocks, corrected for chance.")
      + (weak > 0 ? ` ${count(weak, "column is", "columns are")} used but cannot be distinguished from noise.` : "") + (unused ? ` ${count(unused, "column is", "columns are")} never used.` : ""))));
  if (facts.model.link !== "wolf") {
    if (facts.rounds) place.append(showRounds(facts));
    return;
  }
  if (facts.sparsity) place.append(...showSparsity(facts.sparsity));
  else place.append(el("p", { class: "hint" }, "The sparsity curve was not measured for this report."));
}

// Log loss before the first round and after each.
function showRounds({ rounds: { training, validation }, model }) {
  const last = training.length - 1;
  const at = (losses) => losses.map((loss, i) => [i / last, loss]);
  const high = Math.max(...training, ...(validation || []));
  const series = [{ points: at(training), className: "even", dot: null }];
  if (validation) series.push({ points: at(validation), dot: null });
  return chart({
    title: "Log loss after each round", x: "round", y: "log loss", low: 0, high, series,
    xFormat: (share) => format(Math.round(share * last), 6), yFormat: (loss) => format(loss, 2),
    note: `Dashed: training rows.${validation ? " Solid: held-out rows." : ""} The model kept ${count(model.n_estimators, "round")}.`,
  });
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
      title: "Accuracy against sparsity", x: "beta (smaller weights are set to 0)", y: "accuracy", low, high: 1, ticks, xFormat, heads, rows,
      note: `Mean and standard deviation of ${curve.n_splits}-fold cross-validation. The sparsest model within one standard error of the best has beta = ${format(curve.sparsest)}.`,
      series: [{ points: at(curve.accuracy), spread: curve.spread }],
    }),
    chart({
      title: "Features per block", x: "beta", y: "features per block", low: 0, high: most, ticks, xFormat, yFormat: (v) => format(v, 2),
      note: "Mean number of features in a hyperplane.",
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
      list([["Supplied rows", format(data.n_rows, 7)], ["Held-out rows", facts.test ? format(facts.test.n_rows, 7) : "none"], ["Features", columns.length === features.names.length ? columns.length : `${features.names.length} from ${count(columns.length, "column")}`], ["Missing values", missing ? `in ${count(missing, "column")}` : "none"]]),
      table(["class", "rows", "share"], facts.labels.map((name, i) => [short(name, 40), format(data.counts[i], 7), percent(data.counts[i] / data.n_rows)]))),
    el("div", { class: "card" }, el("h3", {}, "Model"),
      list([["Estimator", model.kind], ["Trees", model.n_trees], ["Blocks", model.n_blocks], ["Leaves", model.n_leaves], ["Depth", model.depth], model.link !== "wolf" ? ["Rounds", model.n_estimators] : ["Confidence", model.confidence || "not used"], ["lhtree", facts.lhtree]])),
    el("div", { class: "card" }, el("h3", {}, "Parameters"),
      table(["parameter", "value"], model.parameters.map((each) => [each.name, el("td", { class: each.is_default ? "text" : "text changed" }, each.value)])),
      el("p", { class: "note" }, "Bold: differs from the default.")),
    el("div", { class: "card" }, el("h3", {}, "Glossary"), el("dl", { class: "words" }, [
      ["Block", "one step of a tree. A branching block sends a row left or right by a hyperplane, a weighted sum of several features; a leaf block ends the path."],
      ["Feature sum", "the weighted sum of the normalised values of a row. Below the offset the row goes left, otherwise right."],
      ...(model.link !== "wolf" ? [
        ["Value", "what a leaf adds to the raw score of the tree’s class. Other blocks have one, too: contributions follow its changes."],
        ["Raw score", facts.classes.length === 2 ? "the base plus the values of the leaves that a row reaches, one per tree: the log odds of the second class." : "the base of a class plus the values of the leaves that a row reaches in its trees. The class with the largest raw score is predicted; probabilities are their softmax."],
      ] : [["Membership", "the degree to which a row belongs to the tree’s class, from 0 to 1: a linear function of the features in the leaf."],
      ["Confidence", `the distance of the row from the ${model.confidence === "path" ? "nearest" : "last"} hyperplane on its path, at most 1. It is not a probability.`],
      ["WOLF", "membership times confidence, averaged over the trees of a class. The class with the largest value is predicted."]])].map(([term, text]) => [el("dt", {}, term), el("dd", {}, text)]))));
}
