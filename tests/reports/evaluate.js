// Evaluates a model of a report under Node: reads { facts, rows, shares } as JSON and writes scores, contributions of all
// classes, levels of values and written shares.

import { readFileSync } from "node:fs";

import { percent } from "../../src/lhtree/reports/assets/draw.js";
import { findColumns, Model } from "../../src/lhtree/reports/assets/model.js";
import { levelOf } from "../../src/lhtree/reports/assets/row.js";

const { facts, rows, shares } = JSON.parse(readFileSync(0, "utf-8"));
facts.columns = findColumns(facts.features);
const model = new Model(facts);

function evaluate(row) {
  const values = row.map((value) => value ?? NaN);
  const score = model.score(values);
  const contributions = facts.classes.map((_, cls) => {
    const { base, byFeature, clipped = 0 } = model.contributions(score, cls);
    return [base, ...byFeature, clipped];
  });
  const { proba, wolf, membership, confidence, rawScore, value, prediction, fallback, walks } = score;
  return { proba, wolf, membership, confidence, rawScore, value, prediction, fallback, walks, contributions, levels: values.map((each, f) => levelOf(model, each, score.z[f])) };
}

const write = (_, value) => (typeof value === "number" && !Number.isFinite(value) ? String(value) : value);
process.stdout.write(JSON.stringify({ rows: rows.map(evaluate), shares: (shares || []).map(percent) }, write));
