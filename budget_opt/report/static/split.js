
/* A split in whole units of 10^exponent nats, so that nothing is lost or made when budget moves. */

const toNats = (units, exponent) => Number(`${units}e${exponent}`);
const total = (numbers) => numbers.reduce((sum, number) => sum + number, 0);
const between = (low, value, high) => Math.min(Math.max(value, low), high);

/** The split after attribute `moved` is set to `wanted` units, or as near to that as the limits of all allow.

    `base` is the split from which the others give or take in proportion; `held` the attributes that keep
    what they have. Pinned attributes have no part in units. */
function movedSplit(question, base, held, moved, wanted) {
  const { attributes } = question;
  const free = attributes.map((attribute, i) => i).filter((i) => !attributes[i].pinned);
  const others = free.filter((i) => i !== moved && !held.has(i));
  const room = base[moved] + total(others.map((i) => base[i]));
  const least = (i) => attributes[i].least ?? 0;
  const most = (i) => Math.min(attributes[i].most ?? Infinity, room);
  const low = Math.max(least(moved), room - total(others.map(most)));
  const high = Math.min(most(moved), room - total(others.map(least)));
  const split = [...base];
  if (low > high) return split;
  split[moved] = between(low, Math.round(wanted), high);
  const parts = others.map((i) => ({ weight: base[i], least: least(i), most: most(i) }));
  const shares = proportionally(room - split[moved], parts);
  others.forEach((i, k) => { split[i] = shares[k]; });
  return split;
}

/** Whole parts of `amount` in proportion to weights, within limits: sum of between(least, factor * weight, most). */
function proportionally(amount, parts) {
  if (parts.length === 0) return [];
  const at = (factor) => parts.map(({ weight, least, most }) => between(least, Math.floor(factor * weight), most));
  const reach = total(parts.map(({ weight, least, most }) => (weight > 0 ? most : least)));
  if (reach < amount) {
    return proportionally(amount, parts.map((part) => ({ ...part, weight: Math.max(part.weight, 1) })));
  }
  let low = 0;
  let high = 1;
  while (total(at(high)) < amount) high *= 2;
  for (let step = 0; step < 200 && low < high; step += 1) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) break;
    if (total(at(middle)) > amount) high = middle;
    else low = middle;
  }
  return spread(amount, at(low), parts);
}

/** What rounding down has left, unit by unit, to those that may have more and have something already. */
function spread(amount, shares, parts) {
  let left = amount - total(shares);
  const open = () => parts.map((part, k) => k).filter((k) => shares[k] < parts[k].most && parts[k].weight > 0);
  while (left > 0) {
    const takers = open();
    if (takers.length === 0) break;
    const each = Math.max(1, Math.floor(left / takers.length));
    for (const k of takers) {
      const taken = Math.min(each, parts[k].most - shares[k], left);
      shares[k] += taken;
      left -= taken;
    }
  }
  return shares;
}
