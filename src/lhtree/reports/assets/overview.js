// Model card, warnings, importances: what the facts say, drawn.

function showOverview(facts) {
  const figures = facts.test || facts.given;
  const where = facts.test ? "held-out rows" : "supplied rows";
  document.title = `${facts.title} · lhtree report`;
  find("title").append(facts.title);
  const trees = facts.model.n_trees;
  const told = (facts.response ? tellNumbers : tellClasses)(facts, figures, where);
  find("lead").append(
    `${trees === 1 ? "One tree" : `${trees} trees`} with ${count(facts.model.n_blocks, "block")} over ${count(facts.features.names.length, "feature")}. `
    + told.lead);
  find("measured-on").append(facts.test
    ? `Measured on ${count(figures.n_rows, "held-out row")}, which must not have been used for training. ${told.compared}`
    : `Measured on the ${count(figures.n_rows, "supplied row")}. If the model was trained on them, ${told.expected} on new data.`);
  const tile = (value, label) => el("div", { class: "tile" }, el("b", {}, value), el("span", {}, label));
  find("tiles").append(
    ...told.tiles.map(([value, label]) => tile(value, label)),
    tile(format(facts.data.n_rows, 7), "supplied rows"),
    tile(`${facts.features.n_used} of ${facts.columns.length}`, "columns used"),
    tile(format(facts.model.n_blocks, 7), `blocks in ${count(trees, "tree")}`));
  find("charts").append(...told.charts.filter(Boolean));
}

function tellClasses(facts, figures, where) {
  return {
    lead: `It predicts ${facts.target ? `${facts.target} correctly` : "the right class"} for ${percent(figures.accuracy)} of ${count(figures.n_rows, facts.test ? "held-out row" : "supplied row")}; `
      + `always predicting the most frequent class would be right for ${percent(figures.most_frequent)}.`,
    expected: "expect a lower accuracy",
    compared: `Accuracy on the ${count(facts.given.n_rows, "training row")}: ${percent(facts.given.accuracy)}.`,
    tiles: [[percent(figures.accuracy), `accuracy on ${where}`]],
    charts: [showConfusion(facts, figures, where), showCoverage(figures, where, facts.model.base !== null), showCalibration(figures, where), showThresholds(facts, where)],
  };
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
    note: `On the ${where}. On the dashed line, predictions with a probability of 80\u00a0% are correct 80\u00a0% of the time; above it, probabilities are too low. Larger dots contain more rows. Brier score ${format(figures.brier, 3)}, log loss ${format(figures.log_loss, 3)}.`,
    even: [[0, 0], [1, 1]],
    series: [{ className: null, points: bins.map((bin) => [bin.probability, bin.accuracy]), radius: bins.map((bin) => 4 + 8 * Math.sqrt(bin.n_rows / most)) }],
    heads: ["probability", "accuracy", "rows"],
    rows: bins.map((bin) => [percent(bin.probability), percent(bin.accuracy), bin.n_rows]),
  });
}

function showWarnings(warnings) {
  const place = find("warnings");
  if (!warnings.length) place.append(el("p", { class: "hint" }, "No warnings: nothing notable among leaves, features, rows and missing values."));
  for (const { kind, title, text } of warnings) place.append(el("div", { class: "notice", "data-kind": kind }, el("h3", {}, title), el("p", {}, text)));
}

function showFeatures(facts) {
  const place = find("feature-charts");
  place.append(showImportances(facts));
  find("features").append(showEffects(facts));
  const more = facts.rounds ? [showRounds(facts)] : facts.sparsity ? showSparsity(facts.sparsity) : [];
  place.append(...more);
  if (!more.length) place.firstChild.classList.add("full");
}

// Loss before the first round and after each.
function showRounds({ rounds: { training, validation }, model, response }) {
  const last = training.length - 1;
  const at = (losses) => losses.map((loss, i) => [i / last, loss]);
  const all = [0, ...training, ...(validation || [])];
  const [low, high] = roundRange(Math.min(...all), Math.max(...all));
  const series = [{ points: at(training), className: "even", dot: null }];
  if (validation) series.push({ points: at(validation), dot: null });
  return chart({
    title: `${response ? "Loss" : "Log loss"} after each round`, x: "round", y: response ? "loss" : "log loss", low, high, series,
    xFormat: (share) => format(Math.round(share * last), 6), yFormat: (loss) => format(loss, 2),
    note: `Dashed: training rows.${validation ? " Solid: held-out rows." : ""} The model kept ${count(model.n_estimators, "round")}.`,
  });
}

function showSparsity(curve) {
  const last = Math.max(...curve.beta, 0.1);
  const at = (values) => curve.beta.map((beta, i) => [beta / last, values[i]]);
  const low = Math.max(0, Math.min(0.9, Math.floor(10 * Math.min(...curve.accuracy.map((mean, i) => mean - curve.spread[i]))) / 10));
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
      title: "Features per block", x: "beta", y: "features", low: 0, high: most, ticks, xFormat, yFormat: (v) => format(v, 2),
      note: "Mean number of features in a hyperplane.",
      series: [{ points: at(curve.features_per_block) }],
    }),
  ];
}

function showCard(facts) {
  const { model, features, data, columns } = facts;
  const list = (pairs) => el("dl", {}, pairs.map(([term, text]) => [el("dt", {}, term), el("dd", {}, text)]));
  const counts = (from, to) => table(["class", "rows", "share"], facts.labels.map((_, i) => [tag(facts, i), format(data.counts[i], 7), percent(data.counts[i] / data.n_rows)]).slice(from, to));
  const isLong = facts.labels.length > MANY_CLASSES;
  const missing = columns.filter((column) => features.missing[column.features[0]] > 0).length;
  find("facts-tables").append(
    el("div", { class: "card" }, el("h3", {}, "Data"),
      list([...(facts.target ? [["Target", named(facts.target)]] : []), ["Supplied rows", format(data.n_rows, 7)], ["Held-out rows", facts.test ? format(facts.test.n_rows, 7) : "none"], ["Features", columns.length === features.names.length ? columns.length : `${features.names.length} from ${count(columns.length, "column")}`], ["Missing values", missing ? `in ${count(missing, "column")}` : "none"]]),
      facts.response ? table(["", "least", "mean", "largest"], [[tag(facts, 0), ...[facts.response.low, facts.response.mean, facts.response.high].map((value) => respond(facts, value))]])
      : isLong ? [counts(0, FIRST_CLASSES), unfold(`${facts.labels.length - FIRST_CLASSES} more classes`, () => counts(FIRST_CLASSES), "more")] : counts(0)),
    el("div", { class: "card" }, el("h3", {}, "Model"),
      list([["Estimator", model.kind], ["Trees", model.n_trees], ["Blocks", model.n_blocks], ["Leaves", model.n_leaves], ["Depth", model.depth], ...(model.base !== null ? [["Rounds", model.n_estimators]] : facts.response ? [] : [["Confidence", model.confidence || "not used"]]), ["lhtree", facts.lhtree]])),
    el("div", { class: "card" }, el("h3", {}, "Parameters"),
      table(["parameter", "value"], model.parameters.map((each) => [each.name, el("td", { class: each.is_default ? "text" : "text changed" }, each.value)]), { class: "parameters" }),
      el("p", { class: "note" }, "Bold: differs from the default.")),
    el("div", { class: "card" }, el("h3", {}, "Glossary"), el("dl", { class: "words" }, [
      ["Block", "one step of a tree. A branching block sends a row left or right by a hyperplane, a weighted sum of several features; a leaf block ends the path."],
      ["Feature sum", "the weighted sum of the normalised values of a row. Below the offset the row goes left, otherwise right."],
      ...(facts.response ? explainNumbers(facts) : model.base !== null ? [
        ["Value", "what a leaf adds to the raw score of the tree’s class. Other blocks have one, too: contributions follow its changes."],
        ...(facts.trees.arrays.low ? [["Linear leaf", "a leaf whose addition depends on the row: its value, plus the slope of every feature times the distance of the row from the mean of the leaf. The sum is clipped to the range of the steps that the training rows of the leaf asked for."]] : []),
        ["Raw score", facts.classes.length === 2 ? "the base plus what the leaves add that a row reaches, one per tree: the log odds of the second class." : "the base of a class plus what the leaves add that a row reaches in its trees. The class with the largest raw score is predicted; probabilities are their softmax."],
      ] : [["Membership", "the degree to which a row belongs to the tree’s class, from 0 to 1: a linear function of the features in the leaf."],
      ["Confidence", `the distance of the row from the ${model.confidence === "path" ? "nearest" : "last"} hyperplane on its path, at most 1. It is not a probability.`],
      ["WOLF", "membership times confidence, averaged over the trees of a class. The class with the largest value is predicted."]])].map(([term, text]) => [el("dt", {}, term), el("dd", {}, text)]))));
}
