"use strict";

/* Randomized response in the browser: the same formulas as budget_opt.mechanisms.randomized_response.
   Letters: e epsilon in nats, r the number of categories. Accurate for e from 1e-300 to 1e4. */

/** log(1 - exp(-e)); -Infinity at 0. */
function logOneMinusExp(e) {
  if (e === 0) return -Infinity;
  return e < Math.LN2 ? Math.log(-Math.expm1(-e)) : Math.log1p(-Math.exp(-e));
}

/** log lambda, lambda = (exp(e) - 1) / (exp(e) + r - 1). */
function logRetention(e, r) {
  return logOneMinusExp(e) - Math.log1p((r - 1) * Math.exp(-e));
}

/** log(1 / lambda - 1), Infinity at 0. */
function logTau(e, r) {
  return Math.log(r) - e - logOneMinusExp(e);
}

/** log of a factor of the variance inflation: 1 + tau a + tau (1 + tau) b. */
function logInflation(e, r, [a, b]) {
  const tau = logTau(e, r);
  return logSumExp([0, Math.log(a + b) + tau, Math.log(b) + 2 * tau]);
}

function logSumExp(terms) {
  const top = Math.max(...terms);
  if (!Number.isFinite(top)) return top;
  return top + Math.log(terms.reduce((sum, term) => sum + Math.exp(term - top), 0));
}

/** log of the retention of every moment at these epsilons: the product rule, times what groupings leave. */
function logRetentions(question, epsilons) {
  const kept = question.attributes.map((attribute, i) => logRetention(epsilons[i], attribute.r));
  return question.moments.map((moment) =>
    moment.of.reduce((sum, i) => sum + kept[i], Math.log(moment.detail ?? 1)));
}

/** The objective's value at these epsilons; moments of weight 0 take no part. */
function objectiveValue(question, epsilons) {
  if (question.objective === "min_epsilon") return epsilons.reduce((sum, e) => sum + e, 0);
  const logs = logRetentions(question, epsilons);
  const all = question.moments.map((moment, k) => ({ moment, log: logs[k] }));
  const used = all.filter(({ moment }) => moment.weight > 0);
  const weights = used.reduce((sum, { moment }) => sum + moment.weight, 0);
  const add = (term) => used.reduce((sum, item) => sum + term(item), 0);
  switch (question.objective) {
    case "weighted_sum":
      return add(({ moment, log }) => moment.weight * Math.exp(log));
    case "geometric_mean":
      return Math.exp(add(({ moment, log }) => (moment.weight / weights) * log));
    case "max_min":
      return Math.min(...used.map(({ moment, log }) => Math.exp(log) / (moment.target ?? 1)));
    default: {
      const factor = (moment, i, place) =>
        logInflation(epsilons[i], question.attributes[i].r, moment.spread?.[place] ?? [1, 1]);
      return add(({ moment }) =>
        moment.weight *
        ((moment.variance ?? 1) / (moment.detail ?? 1)) *
        Math.exp(moment.of.reduce((sum, i, place) => sum + factor(moment, i, place), 0)));
    }
  }
}
