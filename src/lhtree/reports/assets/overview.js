// Overview, warnings and model card.

import { brief, chart, choose, count, el, find, FIRST_CLASSES, format, MANY_CLASSES, named, percent, renew, respond, signed, table, tag, unfold } from "./draw.js";
import { showEffects, showImportances } from "./effects.js";

export function showOverview(facts, model) {
  const figures = facts.test || facts.given;
  const where = facts.test ? "held-out rows" : "supplied rows";
  document.title = `${facts.title} · lhtree report`;
  find("title").append(facts.title);
  const trees = facts.model.n_trees;
  const told = (facts.response ? tellNumbers : tellClasses)(facts, figures, where, model.head);
  find("lead").append(
    (facts.curves ? `${count(facts.curves.length, "curve")} and ${count(facts.surfaces.length, "surface")}. `
      : `${trees === 1 ? "One tree" : `${trees} trees`} with ${count(facts.model.n_blocks, "block")} over ${count(facts.features.names.length, "feature")}. `)
    + told.lead);
  find("measured-on").append(facts.test
    ? `Measured on ${count(figures.n_rows, "held-out row")}, which must not have been used for training. ${told.compared}`
    : `Measured on the ${count(figures.n_rows, "supplied row")}. If the model was trained on them, ${told.expected} on new data.`);
  const tile = (value, label) => el("div", { class: "tile" }, el("b", {}, value), el("span", {}, label));
  find("tiles").append(
    ...told.tiles.map(([value, label]) => tile(value, label)),
    tile(format(facts.data.n_rows, 7), "supplied rows"),
    tile(`${facts.features.n_used} of ${facts.columns.length}`, "columns used"),
    facts.curves ? tile(format(facts.model.n_leaves, 7), "steps of all curves and surfaces") : tile(format(facts.model.n_blocks, 7), `blocks in ${count(trees, "tree")}`));
  find("charts").append(...told.charts.filter(Boolean));
}

function tellClasses(facts, figures, where, head) {
  return {
    lead: `It predicts ${facts.target ? `${facts.target} correctly` : "the right class"} for ${percent(figures.accuracy)} of ${count(figures.n_rows, facts.test ? "held-out row" : "supplied row")}; `
      + `always predicting the most frequent class would be right for ${percent(figures.most_frequent)}.`,
    expected: "expect a lower accuracy",
    compared: `Accuracy on the ${count(facts.given.n_rows, "training row")}: ${percent(facts.given.accuracy)}.`,
    tiles: [[percent(figures.accuracy), `accuracy on ${where}`]],
    charts: [showConfusion(facts, figures, where), showCoverage(figures, where, head.certainty), showCalibration(figures, where), showThresholds(facts, where)],
  };
}

function showCoverage(figures, where, [certainty, many]) {
  const { coverage, accuracy, threshold } = figures.coverage;
  const low = Math.min(0.9, Math.floor(10 * Math.min(...accuracy)) / 10);
  return chart({
    title: "Accuracy at each coverage", x: "coverage (share of rows decided)", y: "accuracy", low, high: 1,
    note: `Accuracy on the ${where} that are decided when those with the smallest ${many} of the predicted class are left out.`,
    series: [{ points: coverage.map((share, i) => [share, accuracy[i]]), dot: coverage.length > 30 ? null : "dot" }],
    heads: ["coverage", "accuracy", `${certainty} at least`],
    rows: coverage.map((share, i) => [percent(share), percent(accuracy[i]), format(threshold[i])]),
  });
}

function showCalibration(figures, where) {
  if (figures.event) return showEvent(figures, where);
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

// Calibration of the event over the whole range of its probability, with lift and gain.
function showEvent(figures, where) {
  const { bands, positive, gini, ks } = figures.event;
  const about = gini === null ? "" : ` Gini ${format(gini, 3)}, KS ${format(ks, 3)}.`;
  return chart({
    title: `Calibration of ${positive}`, x: `probability of ${positive}`, y: `share of ${positive}`,
    note: `Tenths of the ${where} by probability. On the dashed line, shares equal probabilities; above it, probabilities are too low. Brier score ${format(figures.brier, 3)}, log loss ${format(figures.log_loss, 3)}.${about}`,
    even: [[0, 0], [1, 1]],
    series: [
      ...bands.map((band) => ({ className: "band", dot: null, points: [[band.probability, band.rate_low], [band.probability, band.rate_high]] })),
      { points: bands.map((band) => [band.probability, band.rate]) },
    ],
    heads: ["probability", "share", "95 % interval", "rows", "lift", "gain"],
    rows: bands.map((band) => [percent(band.probability), percent(band.rate), `${percent(band.rate_low)} to ${percent(band.rate_high)}`, band.n_rows, band.lift === null ? "–" : format(band.lift, 3), band.gain === null ? "–" : percent(band.gain)]),
  });
}

export function showWarnings(warnings) {
  const place = find("warnings");
  if (!warnings.length) place.append(el("p", { class: "hint" }, "No warnings: nothing notable among leaves, features, rows and missing values."));
  for (const { kind, title, text } of warnings) place.append(el("div", { class: "notice", "data-kind": kind }, el("h3", {}, title), el("p", {}, text)));
}

export function showFeatures(facts, model) {
  const place = find("feature-charts");
  place.append(showImportances(facts, model));
  if (!facts.curves) find("features").append(showEffects(facts, model));
  if (facts.rounds) place.append(showRounds(facts));
  else place.firstChild.classList.add("full");
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

export function showCard(facts, { head }) {
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
      list([["Estimator", model.kind], ...(facts.curves ? [] : [["Trees", model.n_trees], ["Blocks", model.n_blocks], ["Leaves", model.n_leaves], ["Depth", model.depth]]), ...head.cardRows(), ["lhtree", facts.lhtree]])),
    ...(facts.provenance.length ? [el("div", { class: "card", id: "provenance" }, el("h3", {}, "Provenance"), list(facts.provenance.map(([name, text]) => [name[0].toUpperCase() + name.slice(1), text])))] : []),
    el("div", { class: "card" }, el("h3", {}, "Parameters"),
      table(["parameter", "value"], model.parameters.map((each) => [each.name, el("td", { class: each.is_default ? "text" : "text changed" }, each.value)]), { class: "parameters" }),
      el("p", { class: "note" }, "Bold: differs from the default.")),
    el("div", { class: "card" }, el("h3", {}, "Glossary"), el("dl", { class: "words" }, [
      ...(facts.curves ? [] : [
        ["Block", "one step of a tree. A branching block sends a row left or right by a hyperplane, a weighted sum of several features; a leaf block ends the path."],
        ["Feature sum", "the weighted sum of the normalised values of a row. Below the offset the row goes left, otherwise right."]]),
      ...head.glossary(),
    ].map(([term, text]) => [el("dt", {}, term), el("dd", {}, text)]))));
}

// Figures of classifiers: confusions and, for two classes, thresholds.

const known = (share) => (share === null ? "–" : percent(share));

// Counts of rows, the true classes down and the predicted ones across; the shade is the share of the true class.
function tabulateConfusion(facts, classes, counts) {
  const cell = (n, row, isRight) => {
    const share = n / Math.max(1, row.reduce((sum, each) => sum + each, 0));
    const shade = `color-mix(in srgb, var(${isRight ? "--accent" : "--warn"}) ${Math.round(n ? 12 + 48 * share : 0)}%, var(--card))`;
    return el("td", { style: { background: shade } }, format(n, 7));
  };
  return table([el("small", {}, "true \\ predicted"), ...classes.map((cls) => tag(facts, cls))], counts.map((row, i) => [
    tag(facts, classes[i]), ...row.map((n, j) => cell(n, row, i === j))]), { class: classes.length > 4 ? "confusion" : "confusion few", own: classes.length });
}

function showConfusion(facts, figures, where) {
  if (facts.confusions) return showConfusions(facts, figures, where);
  const letters = facts.tags.reduce((sum, name) => sum + Math.min(12, name.length + 2), 0);
  const all = facts.labels.map((_, i) => i);
  const isWide = letters > 22;
  return el("figure", { class: isWide ? "card full" : "card" }, el("figcaption", {}, "Confusion matrix"),
    el("div", { class: isWide && letters <= 80 ? "beside" : "stacked" },
      el("div", {}, tabulateConfusion(facts, all, figures.confusion), el("p", { class: "note" }, `Counts of the ${where}.`)),
      el("div", {}, tabulateClasses(facts, figures, all), el("p", { class: "note" }, TELL_RECALL))));
}

const TELL_RECALL = "Recall: the share of a class that is predicted as such. Precision: the share of predictions of a class that are correct.";

function tabulateClasses(facts, figures, order) {
  return table(["class", "recall", "precision"], order.map((i) => [tag(facts, i), known(figures.classes[i].recall), known(figures.classes[i].precision)]));
}

// The most confused pairs of many classes, and the classes with the lowest recall.
function showConfusions(facts, figures, where) {
  const { n_wrong: wrong, n_pairs: pairs, pairs: top } = facts.confusions;
  const list = (some) => table(["true class", "predicted as", "rows", "of the class"], some.map((one) => [
    tag(facts, one.true), el("td", { class: "text" }, tag(facts, one.predicted)), format(one.n_rows, 7), percent(one.n_rows / figures.classes[one.true].n_rows)]), { class: "confusions" });
  const order = figures.classes.map((_, i) => i).filter((i) => figures.classes[i].recall !== null).sort((a, b) => figures.classes[a].recall - figures.classes[b].recall);
  return el("figure", { class: "card full" }, el("figcaption", {}, "Most frequent confusions"),
    el("div", { class: "pair" },
      el("div", {},
        top.length ? list(top.slice(0, FIRST_CLASSES)) : el("p", {}, "None: every row is predicted correctly."),
        top.length > FIRST_CLASSES ? unfold(`${top.length - FIRST_CLASSES} more`, () => list(top.slice(FIRST_CLASSES)), "more") : null,
        el("p", { class: "note" }, `${format(wrong, 7)} of the ${format(figures.n_rows, 7)} ${where} ${wrong === 1 ? "is" : "are"} confused, in ${count(pairs, "pair")} of classes.`)),
      el("div", {},
        tabulateClasses(facts, figures, order.slice(0, FIRST_CLASSES)),
        order.length > FIRST_CLASSES ? unfold(`${order.length - FIRST_CLASSES} more classes`, () => tabulateClasses(facts, figures, order.slice(FIRST_CLASSES)), "more") : null,
        el("p", { class: "note" }, `Classes with the lowest recall first. ${TELL_RECALL}`))));
}

// ROC and precision-recall curves of two classes, and a threshold to move.
function showThresholds(facts, where) {
  if (!facts.thresholds) return null;
  const { classes, first } = facts.thresholds;
  const [title, place] = [el("figcaption", {}), el("div", {})];
  const slider = el("input", { type: "range", min: 0, id: "threshold", oninput: () => move(curve.threshold.length - 1 - Number(slider.value)) });
  const told = el("div", { id: "at-threshold" });
  let cls, curve, charts;
  const precision = (i) => (curve.right[i] + curve.wrong[i] ? curve.right[i] / (curve.right[i] + curve.wrong[i]) : null);

  function show(chosen) {
    [cls, curve] = [chosen, classes[chosen]];
    const roc = [[0, 0], ...curve.right.map((n, i) => [curve.wrong[i] / curve.n_others, n / curve.n_own]), [1, 1]];
    const pr = curve.right.map((n, i) => [n / curve.n_own, precision(i)]).filter(([, share]) => share !== null);
    charts = [
      chart({ isPlain: true, title: `ROC curve: AUC ${format(curve.roc_auc, 4)}`, x: "false positive rate", y: "recall", even: [[0, 0], [1, 1]], series: [{ points: roc, dot: null }] }),
      chart({ isPlain: true, title: `Precision and recall: average precision ${format(curve.average_precision, 4)}`, x: "recall", y: "precision", even: [[0, curve.n_own / (curve.n_own + curve.n_others)], [1, curve.n_own / (curve.n_own + curve.n_others)]], series: [{ points: pr, dot: null }] }),
    ];
    title.replaceChildren("Threshold for ", named(facts.classes[cls]));
    place.replaceChildren(el("div", { class: "pair" }, charts));
    slider.max = curve.threshold.length - 1;
    move(curve.half);
  }

  // Thresholds are stored from the largest to the least; the slider has the least on its left.
  function move(i) {
    const [right, wrong] = [curve.right[i], curve.wrong[i]];
    const [missed, left] = [curve.n_own - right, curve.n_others - wrong];
    const recall = right / curve.n_own;
    const share = precision(i);
    const accuracy = (right + left) / (curve.n_own + curve.n_others);
    charts[0].mark([wrong / curve.n_others, recall]);
    charts[1].mark(share === null ? null : [recall, share]);
    slider.setAttribute("aria-valuetext", format(curve.threshold[i]));
    renew(told,
      el("p", {}, "Predict ", named(facts.classes[cls]), " if its probability is at least ", el("b", { id: "threshold-value", "data-value": curve.threshold[i] }, format(curve.threshold[i])), "."),
      el("div", { class: "pair" },
        tabulateConfusion(facts, [cls, 1 - cls], [[right, missed], [wrong, left]]),
        el("ul", { class: "legend" }, [["recall", percent(recall)], ["precision", known(share)], ["F1", percent((2 * right) / (2 * right + wrong + missed))], ["accuracy", percent(accuracy)], ["balanced accuracy", percent((recall + left / curve.n_others) / 2)]]
          .map(([name, text]) => el("li", {}, `${name} `, el("b", {}, text))))));
    slider.value = curve.threshold.length - 1 - i;
  }

  const jump = (text, key) => el("button", { type: "button", onclick: () => move(curve[key]) }, text);
  const figure = el("figure", { class: "card full", id: "thresholds" }, title,
    el("div", { class: "controls" }, choose("Class", facts.classes, first, show)), place,
    el("div", { class: "controls" }, el("div", { class: "slide" }, el("label", { for: "threshold" }, "Threshold: higher to the right"), slider), jump("0.5", "half"), jump("Best balanced accuracy", "balanced"), jump("Best F1", "f1")),
    told,
    el("p", { class: "note" }, `On the ${where}. The model itself predicts the class with the larger probability. A threshold chosen here should be checked on other rows; lhtree.choose_threshold finds one.`));
  show(first);
  return figure;
}

// Figures of regressors.

// A round range of four steps that holds two numbers.
export function roundRange(low, high) {
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
