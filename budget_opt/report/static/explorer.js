
/* The sliders: what is moved, and what follows from it in the page. */

const SPOKEN_AFTER = 600; // milliseconds without a change, so that a screen reader is not flooded
const SAME = 1e-3; // a share of a retention, as in bo.compare: a smaller change is none

class Explorer {
  constructor(question) {
    this.question = question;
    this.reported = question.attributes.map(({ epsilon }) => epsilon);
    this.reportedKept = logRetentions(question, this.reported).map(Math.exp);
    this.reportedValue = objectiveValue(question, this.reported);
    this.sliderEnd = this.scale();
    this.barEnd = Math.min(1, 1.5 * Math.max(...this.reportedKept));
    this.held = new Set();
    this.sliders = question.attributes.map((attribute, i) => this.makeSlider(attribute, i));
    this.rows = question.moments.map((moment, k) => this.makeRow(moment, k));
    byId("reset").addEventListener("click", () => this.reset());
    byId("even").addEventListener("click", () => this.set(question.attributes.map(({ even }) => even)));
    byId("copy").addEventListener("click", () => this.copy());
    this.reset();
    byId("explorer").hidden = false;
    byId("link-to-explorer").hidden = false;
  }

  nats(units) {
    return toNats(units, this.question.exponent);
  }

  /** The right end of all sliders in nats: twice the largest epsilon of the report, at most the whole budget. */
  scale() {
    const { attributes, spent, step } = this.question;
    const free = attributes.filter(({ pinned }) => !pinned);
    const largest = Math.max(...free.map(({ epsilon, even }) => Math.max(epsilon, this.nats(even))));
    return Math.max(10, Math.ceil(Math.min(spent, 2 * largest) / step)) * step;
  }

  makeSlider(attribute, i) {
    const id = `epsilon-${i}`;
    const name = element("label", { htmlFor: id, textContent: attribute.name });
    const shown = element("data");
    const range = element("input", { type: "range", id, min: "0" });
    range.max = String(this.sliderEnd);
    range.step = String(this.question.step);
    const box = element("input", { type: "checkbox", id: `hold-${i}` });
    const whose = element("span", { className: "unseen", textContent: ` ${attribute.name}` });
    const hold = element("label", { htmlFor: box.id, className: "hold" }, box, " hold", whose);
    const limit = element("p", { className: "limit", textContent: this.limitText(attribute) });
    range.disabled = box.disabled = Boolean(attribute.pinned);
    range.addEventListener("input", () => this.move(i, Number(range.value)));
    box.addEventListener("change", () => this.hold(i, box.checked));
    const output = element("output", { htmlFor: id }, shown);
    byId("sliders").append(element("div", { className: "slider" }, name, output, range, hold, limit));
    return { range, shown };
  }

  limitText({ pinned, least, most }) {
    if (pinned) return "pinned by the problem";
    const words = [];
    if (least !== undefined) words.push(`at least ${short(this.nats(least))}`);
    if (most !== undefined) words.push(`at most ${short(this.nats(most))}`);
    return words.join(", ");
  }

  makeRow(moment, k) {
    const heading = element("th", { scope: "row", textContent: labelOf(this.question, moment) });
    const report = element("data");
    setDatum(report, this.reportedKept[k], percent(this.reportedKept[k]));
    const fill = element("span", { className: "yours" });
    const mark = element("span", { className: "report" });
    mark.style.insetInlineStart = this.onBar(this.reportedKept[k]);
    const bar = element("td", { className: "bars" }, element("span", { className: "bar" }, fill, mark));
    bar.ariaHidden = "true";
    const yours = element("data");
    const change = element("td");
    const verdict = element("td");
    const cells = [element("td", {}, report), element("td", {}, yours), bar, change, verdict];
    byId("retentions").tBodies[0].append(element("tr", {}, heading, ...cells));
    return { yours, fill, change, verdict };
  }

  /** A retention as a length on its bar, whose end is somewhat beyond the report's largest. */
  onBar(kept) {
    return `${Math.min(100, (100 * kept) / this.barEnd)}%`;
  }

  /** The epsilons in nats: the report's own until something is moved. */
  get epsilons() {
    if (!this.changed) return this.reported;
    return this.question.attributes.map(({ pinned, epsilon }, i) => (pinned ? epsilon : this.nats(this.units[i])));
  }

  reset() {
    this.set(this.question.attributes.map(({ units }) => units), false);
  }

  set(units, changed = true) {
    this.units = units;
    this.changed = changed;
    this.fix();
    this.show();
  }

  /** From here on the others give or take in proportion to what they have now. */
  fix() {
    this.base = this.units;
    this.active = null;
  }

  hold(i, wanted) {
    if (wanted) this.held.add(i);
    else this.held.delete(i);
    this.sliders[i].range.disabled = wanted;
    this.fix();
  }

  move(i, nats) {
    if (this.active !== i) this.fix();
    this.active = i;
    this.units = movedSplit(this.question, this.base, this.held, i, nats / this.nats(1));
    this.changed = true;
    this.show();
  }

  show() {
    const { epsilons, question } = this;
    const kept = logRetentions(question, epsilons).map(Math.exp);
    const value = objectiveValue(question, epsilons);
    const said = `${short(value, 5)}, ${this.ratio(value)}`;
    const broken = [...this.showRetentions(kept), ...this.brokenBudgets(), ...this.brokenBounds()];
    this.showSliders(epsilons);
    setDatum(byId("sum"), this.sum(), short(this.sum(), 6));
    setDatum(byId("value"), value, said);
    setText(byId("changes"), this.changes(kept));
    setText(byId("limits"), broken.length ? `broken: ${listed(broken)}` : "all kept");
    const split = Object.fromEntries(question.attributes.map(({ name }, i) => [name, epsilons[i]]));
    byId("json").value = `${JSON.stringify(split, null, 1)}\n`;
    this.say(`Objective ${said}. Moments: ${this.changes(kept)}. Limits: ${byId("limits").textContent}.`);
  }

  showSliders(epsilons) {
    this.sliders.forEach(({ range, shown }, i) => {
      range.value = String(epsilons[i]);
      range.ariaValueText = `${short(epsilons[i])} nats`;
      setDatum(shown, epsilons[i], epsilons[i] === 0 ? "0" : epsilons[i].toPrecision(4));
    });
  }

  /** Every row anew; returns the floors and ceilings that are broken. */
  showRetentions(kept) {
    const broken = [];
    this.rows.forEach((row, k) => {
      const moment = this.question.moments[k];
      const change = this.change(kept, k);
      const verdict = this.verdict(moment, kept[k], change);
      if (verdict.broken) broken.push(`${verdict.broken} of ${labelOf(this.question, moment)}`);
      setDatum(row.yours, kept[k], percent(kept[k]));
      row.fill.style.inlineSize = this.onBar(kept[k]);
      setText(row.change, change === 0 ? "0" : signedPoints(change));
      setText(row.verdict, verdict.text);
      row.verdict.className = verdict.broken ? "t broken" : "t";
    });
    return broken;
  }

  verdict({ floor, ceiling }, kept, change) {
    if (kept < floor) return { broken: "floor", text: `floor ${percent(floor)} missed` };
    if (kept > ceiling) return { broken: "ceiling", text: `ceiling ${percent(ceiling)} exceeded` };
    const kind = change === 0 ? "the same" : change > 0 ? "more" : "less";
    return { broken: null, text: floor === undefined ? kind : `${kind}, floor kept` };
  }

  /** What moment k keeps more than in the report; 0 where nobody would notice. */
  change(kept, k) {
    const before = this.reportedKept[k];
    return Math.abs(kept[k] - before) > SAME * before ? kept[k] - before : 0;
  }

  /** How many moments gain and lose against the report. */
  changes(kept) {
    const changes = kept.map((_, k) => this.change(kept, k));
    const more = changes.filter((change) => change > 0).length;
    const less = changes.filter((change) => change < 0).length;
    const keep = (count) => (count === 1 ? "1 keeps" : `${count} keep`);
    return more + less ? `${keep(more)} more than in the report, ${keep(less)} less` : "all as in the report";
  }

  /** The total and the groups that are overspent. */
  brokenBudgets() {
    const { budgets } = this.question;
    const over = budgets.filter(({ members, most }) => total(members.map((i) => this.units[i])) > most);
    return over.map(({ name, most }) => `${name ? `group ${name}` : "the total"} above ${short(this.nats(most))}`);
  }

  /** Attributes outside their own bounds, as a report's split may be; a move brings them back. */
  brokenBounds() {
    const broken = ({ least = 0, most = Infinity, pinned, outside }, i) =>
      this.changed && !pinned ? this.units[i] < least || this.units[i] > most : outside;
    return this.question.attributes.filter(broken).map(({ name }) => `bounds of ${name}`);
  }

  /** The sum in nats: of whole units where something was moved, so that it does not waver. */
  sum() {
    const { attributes, spent } = this.question;
    if (!this.changed) return spent;
    const pinned = total(attributes.filter(({ pinned: held }) => held).map(({ epsilon }) => epsilon));
    return pinned + this.nats(total(this.units.filter((_, i) => !attributes[i].pinned)));
  }

  ratio(value) {
    const ratio = value / this.reportedValue;
    if (!Number.isFinite(ratio)) return "not comparable with the report\u2019s";
    if (Math.abs(ratio - 1) < 5e-6) return "the report\u2019s value";
    const side = (ratio > 1) === this.question.minimized ? "worse" : "better";
    return `${short(100 * ratio)}\u00a0% of the report\u2019s value (${side})`;
  }

  say(text) {
    clearTimeout(this.speaking);
    this.speaking = setTimeout(() => setText(byId("said"), text), SPOKEN_AFTER);
  }

  copy() {
    const box = byId("json");
    box.focus();
    box.select();
    const done = () => setText(byId("copied"), "copied");
    const failed = () => setText(byId("copied"), "selected: copy it with your keyboard");
    if (navigator.clipboard) navigator.clipboard.writeText(box.value).then(done, failed);
    else failed();
  }
}

new Explorer(JSON.parse(byId("explorer-data").textContent));
