// Calibrated probabilities from the scores of the targets: raw scores, or uncalibrated probabilities. The same as
// cpp/lhtree/score/calibration.cpp.
function calibrate({ method, knots }, scores, nClasses) {
  const logistic = (raw) => (raw > 0 ? 1 / (1 + Math.exp(-raw)) : Math.exp(raw) / (1 + Math.exp(raw)));
  const map = ({ x, y }, score) => {
    if (method === "sigmoid") return logistic(x[0] * score + y[0]);
    if (!(score > x[0])) return y[0];
    const next = x.findIndex((each) => each > score);
    if (next < 0) return y[y.length - 1];
    return y[next - 1] + ((score - x[next - 1]) / (x[next] - x[next - 1])) * (y[next] - y[next - 1]);
  };
  const own = scores.map((score, target) => map(knots[target], score));
  if (nClasses === 2) return [1 - own[0], own[0]];
  const total = own.reduce((sum, each) => sum + each, 0);
  return own.map((each) => (total === 0 ? 1 / nClasses : each / total));
}

// A score with calibrated probabilities, if the model has a calibration; `from` is what it maps.
function withCalibration(model, score, from) {
  if (!model.calibration) return score;
  const proba = calibrate(model.calibration, from, model.nClasses);
  return { ...score, uncalibrated: score.proba, proba, prediction: proba.indexOf(Math.max(...proba)) };
}
