// What is different where a number is predicted. The response stands for an only class, and its name for that of the class.

// The predicted number: the mean of the trees' estimates or, if boosted, what the link makes of their sum.
function scoreNumber(model, row) {
  let walks, value;
  if (model.isBoosted) {
    const added = addTrees(model, row);
    walks = added.walks;
    value = model.link === "log" ? Math.exp(added.raw[0]) : added.raw[0];
  } else {
    walks = Array.from({ length: model.nTrees }, (_, tree) => model.walk(tree, row));
    value = walks.reduce((sum, way) => sum + way.membership, 0) / model.nTrees;
  }
  return { ...row, walks, value, proba: [value], prediction: 0, fallback: null };
}

// A response, with the digits that tell responses apart.
const respond = (facts, value) => format(value, digitsBetween(facts.response.low, facts.response.high));
// A number that fits an axis.
const brief = (value) => (value < 0 ? "−" : "") + tally(Number(Math.abs(value).toPrecision(3)));

// A round range of four steps that holds two numbers.
function roundRange(low, high) {
  const unit = 10 ** Math.floor(Math.log10((high - low) / 4 || 1));
  for (const factor of [1, 2, 2.5, 5, 10, 20]) {
    const step = factor * unit;
    const from = Math.floor(low / step) * step;
    if (from + 4 * step >= high) return [from, from + 4 * step];
  }
  return [low, high];
}

function tellNumbers(facts, figures, where) {
  const { r2, rmse, baseline_rmse: mean, mae, quantile, intervals } = figures;
  const main = quantile
    ? `It predicts the ${format(quantile.quantile)} quantile of ${facts.labels[0]}: ${percent(quantile.share_below)} of ${count(figures.n_rows, "row")} are below the prediction.`
    : `Its predictions of ${facts.labels[0]} are off by ${format(mae, 3)} on average over ${count(figures.n_rows, facts.test ? "held-out row" : "supplied row")}.`;
  const parts = [showActual(facts, where), showResiduals(facts, where), showDistribution(facts, figures, where), showRanges(figures, where)];
  if (facts.numbers.intervals.length) parts.splice(3, 0, showIntervals(facts, where));
  return {
    lead: quantile
      ? `${main} The pinball loss is ${format(quantile.pinball, 3)}; always predicting that quantile of all rows would give ${format(quantile.baseline, 3)}.`
      : `${main} The root mean squared error is ${format(rmse, 3)}; always predicting the mean would give ${format(mean, 3)}.`,
    expected: "expect larger errors",
    compared: `${quantile ? "Pinball loss" : "R²"} on the ${count(facts.given.n_rows, "training row")}: ${format(quantile ? facts.given.quantile.pinball : facts.given.r2, 3)}.`,
    // R² and RMSE judge predictions of the mean.
    tiles: [...(quantile ? [[percent(quantile.share_below), `below the prediction; aim: ${percent(quantile.quantile)}`], [format(quantile.pinball, 3), `pinball loss on ${where}`]]
      : [[format(r2, 3), `R² on ${where}`], [format(rmse, 3), "RMSE"], [format(mae, 3), "mean absolute error"]]), ...(intervals ? [[percent(intervals.share), `in ${percent(intervals.coverage)} intervals`]] : [])],
    charts: parts,
  };
}

function showActual(facts, where) {
  const { points: { actual, predicted }, half, coverage } = facts.numbers;
  const [low, high] = roundRange(Math.min(...actual, ...predicted), Math.max(...actual, ...predicted));
  const at = (value) => (value - low) / (high - low);
  const inside = (offset) => [[Math.max(low, low - offset), Math.min(high, high - offset)]].flatMap(([from, to]) => [[at(from), from + offset], [at(to), to + offset]]);
  const band = half === null ? [] : [half, -half].map((offset) => ({ className: "minor", dot: null, points: inside(offset) }));
  return chart({
    title: "Predicted against actual", x: "predicted", y: "actual", low, high, even: [[0, low], [1, high]], yFormat: brief, xFormat: (share) => brief(low + share * (high - low)),
    note: `${count(actual.length, where.slice(0, -1))}. On the dashed line, the prediction is exact; above it, the row has more than predicted.${half === null ? "" : ` Between the outer lines: the ${percent(coverage)} intervals.`}`,
    series: [{ className: null, points: actual.map((value, i) => [at(predicted[i]), value]), radius: actual.map(() => 3) }, ...band],
    heads: ["predicted", "actual"], rows: actual.map((value, i) => [respond(facts, predicted[i]), respond(facts, value)]),
  });
}

function showResiduals(facts, where) {
  const { actual, predicted } = facts.numbers.points;
  const residual = actual.map((value, i) => value - predicted[i]);
  const [from, to] = roundRange(Math.min(...predicted), Math.max(...predicted));
  const most = Math.max(...residual.map(Math.abs)) || 1;
  const high = roundRange(0, most)[1];
  return chart({
    title: "Residuals over predictions", x: "predicted", y: "actual − predicted", low: -high, high, even: [[0, 0], [1, 0]], yFormat: brief, xFormat: (share) => brief(from + share * (to - from)),
    note: `For the same ${where}. A curve or a funnel shows what the model does not capture.`,
    series: [{ className: null, points: residual.map((value, i) => [(predicted[i] - from) / (to - from), value]), radius: residual.map(() => 3) }],
  });
}

function showDistribution(facts, figures, where) {
  const { counts, low, high } = facts.numbers.residuals;
  const width = 1 / counts.length;
  const step = (high - low) / counts.length;
  return chart({
    title: "Distribution of residuals", x: "actual − predicted", y: "rows", low: 0, high: roundRange(0, Math.max(...counts))[1], yFormat: brief, xFormat: (share) => brief(low + share * (high - low)),
    note: `All ${where}; the outermost bars hold all beyond them. Mean of predicted minus actual: ${signed(figures.mean_error, 3)}.`,
    series: [{ className: null, dot: null, bar: width, points: counts.map((n, i) => [i * width, n]) }],
    heads: ["from", "to", "rows"], rows: counts.map((n, i) => [format(low + i * step, 3), format(low + (i + 1) * step, 3), n]),
  });
}

function showIntervals(facts, where) {
  const { intervals } = facts.numbers;
  return chart({
    title: "Coverage of the intervals", x: "coverage asked for", y: "rows inside", even: [[0, 0], [1, 1]],
    note: `Share of the ${where} inside their prediction intervals. On the dashed line, they hold what they promise.${facts.test ? "" : " On rows of the training they hold more."}`,
    series: [{ points: intervals.map(({ coverage, share }) => [coverage, share]) }],
    heads: ["coverage", "rows inside", "width"], rows: intervals.map(({ coverage, share, width }) => [percent(coverage), percent(share), format(width, 3)]),
  });
}

function showRanges(figures, where) {
  return el("figure", { class: "card" }, el("figcaption", {}, "Ranges of the prediction"),
    table(["predicted", "actual", "RMSE", "rows"], figures.ranges.map((one) => [format(one.predicted, 3), format(one.actual, 3), format(one.rmse, 3), format(one.n_rows, 7)])),
    el("p", { class: "note" }, `Means over ten parts of the ${where}, from the lowest predictions to the highest.`));
}

// The answer for a row, in the unit of the response.
function answerNumber(explorer) {
  const { facts, model, score, values } = explorer;
  const { half, coverage } = facts.numbers;
  return [
    el("div", { role: "status" },
      el("p", { class: "note" }, explorer.isWhole ? "Prediction of the model" : `Prediction of the first ${facts.trees.n_shown} ${model.isBoosted ? "rounds" : "trees"}`),
      el("p", { class: "answer", id: "prediction", "data-value": score.value }, named(facts.classes[0]), `: ${respond(facts, score.value)}`)),
    half === null ? null : el("p", { class: "note", id: "interval" }, `${percent(coverage)} interval: ${respond(facts, score.value - half)} to ${respond(facts, score.value + half)}.`),
    describeActual(explorer),
    el("p", { id: "sentence" }, ...describe(facts, model, values, score, 0)),
    showContributions(facts, model, values, score, 0),
  ];
}

function describeActual({ facts, model, chosen, isOwn, isWhole, proba }) {
  if (isOwn) return el("p", { class: "note" }, "Prediction for the edited values.");
  const actual = facts.samples.actual[chosen];
  const whole = isWhole ? "" : `The whole ${model.isBoosted ? "model" : "forest"} predicts ${respond(facts, proba[chosen])}. `;
  return el("p", { class: "note" }, `${whole}Actual: ${respond(facts, actual)}; actual minus predicted: ${signed(actual - proba[chosen], 3)}.`);
}

// The words of the glossary.
function explainNumbers({ model, response }) {
  const range = `It never leaves the range of the training responses, ${format(response.low)} to ${format(response.high)}.`;
  return model.base !== null
    ? [["Value", "what a leaf adds to the sum of the trees. Other blocks have one, too: contributions follow its changes."],
      ["Prediction", `the base plus what the leaves add that a row reaches, one per tree${model.link === "log" ? "; e to the power of that sum" : ""}.`]]
    : [["Estimate", "what a leaf predicts: the mean response of its training rows, or a linear function of the features, clipped to the range of their responses."],
      ["Prediction", `${model.n_trees === 1 ? "the estimate of the leaf that a row reaches" : "the mean of the estimates of all trees"}. ${range}`]];
}
