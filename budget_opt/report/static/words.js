
/* Numbers and names as the page says them. Names reach it as text only. */

const byId = (id) => document.getElementById(id);

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** Only what changes is touched, so that a thousand rows follow a slider. */
function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

/** A number in full for machines, and as people read it. */
function setDatum(data, value, text) {
  data.value = String(value);
  setText(data, text);
}

/** A share in percent, as the tables of the report say it: 37.8 %, 0.9 %, 0.0012 %, 2.1e-06 %. */
function percent(share) {
  if (share === 0) return "0\u00a0%";
  if (share >= 0.01) return `${(100 * share).toFixed(1)}\u00a0%`;
  const rounded = Number((100 * share).toPrecision(2));
  const [digits, exponent] = rounded.toExponential().split("e-");
  return `${rounded < 1e-4 ? `${digits}e-${exponent.padStart(2, "0")}` : rounded}\u00a0%`;
}

function short(number, digits = 4) {
  return Number.isFinite(number) ? String(Number(number.toPrecision(digits))) : "undefined";
}

/** A change of a share in percentage points; the heading of its column says so. */
function signedPoints(change) {
  const points = 100 * Math.abs(change);
  if (points < 1e-4) return "0";
  return `${change > 0 ? "+" : "\u2212"}${points >= 0.05 ? points.toFixed(1) : Number(points.toPrecision(1))}`;
}

function listed(names) {
  return names.length > 5 ? `${names.slice(0, 5).join(", ")} and ${names.length - 5} more` : names.join(", ");
}

function labelOf(question, moment) {
  return moment.label;
}
