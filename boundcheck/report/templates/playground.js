// The playground of a statement page: the program of its expressions, run in balls of arbitrary precision.
// A ball is [m, e, r]: the value m * 2^e, wrong by at most 2^r (r = -Infinity: exact; r = Infinity: nothing is known).
(function (root) {
"use strict";
const NONE = -Infinity, ONE = [1n, 0, NONE], ZERO = [0n, 0, NONE], UNKNOWN = [0n, 0, Infinity];
const NEAR = Math.log2(1e-12), PRECISIONS = [128, 512, 2048];
let P = 128; // bits of a ball's middle
class Undefined extends Error {}

// -- balls ---------------------------------------------------------------------------------------
const size = n => n < 0n ? -n : n;
function bits(n) {
  if (!n) return 0;
  const text = size(n).toString(16);
  return 4 * text.length - Math.clz32(parseInt(text[0], 16)) + 28;
}
const plus = (a, b) => a === NONE || b === NONE ? NONE : a + b;
function sum(...rs) { // log2 of the sum of 2^r, rounded up
  const top = Math.max(...rs);
  return Number.isFinite(top) ? top + Math.log2(rs.reduce((t, r) => t + 2 ** (r - top), 0)) + 1e-9 : top;
}
const mag = a => a[0] ? bits(a[0]) + a[1] : NONE; // |middle| < 2^mag
const sign = a => a[0] ? (a[2] < mag(a) - 2 ? (a[0] > 0n ? 1 : -1) : null) : a[2] === NONE ? 0 : null;
const low = a => mag(a) - 2; // where the sign is known, |value| >= 2^low
const shift = (m, s) => s >= 0 ? m << BigInt(s) : m >> BigInt(-s);
function make(m, e, r) {
  const over = bits(m) - P;
  if (Math.abs(e) > 2 ** 52) return UNKNOWN;
  if (over <= 0) return [m, e, r];
  const kept = shift(m, -over);
  return [kept, e + over, shift(kept, over) === m ? r : sum(r, e + over)];
}
const negative = a => [-a[0], a[1], a[2]];
function add(a, b) {
  const r = sum(a[2], b[2]), x = mag(a), y = mag(b);
  if (Math.abs(x - y) > 4 * P && a[0] && b[0]) return x > y ? make(a[0], a[1], sum(r, y)) : make(b[0], b[1], sum(r, x));
  if (!a[0] || !b[0]) return a[0] ? [a[0], a[1], r] : [b[0], b[1], r];
  const e = Math.min(a[1], b[1]);
  return make(shift(a[0], a[1] - e) + shift(b[0], b[1] - e), e, r);
}
const mul = (a, b) => make(a[0] * b[0], a[1] + b[1], sum(plus(a[2], mag(b)), plus(b[2], mag(a)), plus(a[2], b[2])));
function div(a, b) {
  const known = sign(b);
  if (known === 0) throw new Undefined("a denominator is zero");
  if (known === null) return UNKNOWN;
  const s = Math.max(0, P + 2 + bits(b[0]) - bits(a[0])), top = shift(a[0], s), q = top / b[0], e = a[1] - s - b[1];
  const lost = q * b[0] === top ? NONE : e;
  return make(q, e, sum(lost, plus(a[2], -low(b)), plus(b[2], mag([q, e]) + 1 - low(b))));
}
function power(a, n) {
  let result = ONE;
  for (; n; n >>= 1n) {
    if (n & 1n) result = mul(result, a);
    if (n > 1n) a = mul(a, a);
  }
  return result;
}
function integerRoot(n, q) { // the floor of the q-th root
  if (!n) return n;
  const k = BigInt(q);
  let x = 1n << BigInt(Math.ceil(bits(n) / q));
  for (;;) {
    const y = ((k - 1n) * x + n / x ** (k - 1n)) / k;
    if (y >= x) return x;
    x = y;
  }
}
function rootOf(a, q) {
  const known = sign(a);
  if (known === 0) return ZERO;
  if (known < 0) throw new Undefined("a root of a negative number is taken");
  if (known === null) return [0n, 0, (Math.max(mag(a), a[2]) + 1) / q];
  let s = Math.max(0, q * (P + 2) - bits(a[0]));
  s += ((a[1] - s) % q + q) % q;
  const n = shift(a[0], s), e = (a[1] - s) / q, x = integerRoot(n, q);
  return make(x, e, sum(x ** BigInt(q) === n ? NONE : e, plus(a[2], mag([x, e]) + 1 - low(a))));
}
const kept = new Map();
function constant(name, F, compute) {
  const key = name + F;
  if (!kept.has(key)) kept.set(key, compute());
  return kept.get(key);
}
function series(n, F, turn) { // atanh(1/n), or atan(1/n) with turn = -1, in units of 2^-F
  let term = (1n << BigInt(F)) / n, total = term, direction = turn;
  for (let i = 3n; term; i += 2n, direction *= turn) {
    term /= n * n;
    total += BigInt(direction) * (term / i);
  }
  return total;
}
const ln2 = F => constant("ln2 ", F, () => 2n * series(3n, F, 1));
const pi = F => constant("pi ", F, () => 16n * series(5n, F, -1) - 4n * series(239n, F, -1));
function exp(a) {
  if (sign(a) === 0) return ONE;
  const top = mag(a);
  if (top > 40) return a[0] < 0n && sign(a) ? [0n, 0, -(2 ** 38)] : UNKNOWN;
  if (a[2] > 0) return UNKNOWN;
  const F = P + 64 + Math.max(0, top), x = shift(a[0], a[1] + F), log = ln2(F);
  let k = x / log;
  if (x < k * log) k -= 1n;
  const small = x - k * log >> 8n;
  let total = 1n << BigInt(F), term = total;
  for (let i = 1n; term; i += 1n) total += term = (term * small >> BigInt(F)) / i;
  for (let i = 0; i < 8; i++) total = total * total >> BigInt(F);
  const e = Number(k) - F, whole = mag([total, e]);
  return make(total, e, sum(whole - P - 16, plus(a[2], whole + 1)));
}
function log(a) {
  const known = sign(a);
  if (known !== null && known <= 0) throw new Undefined("the logarithm of a number that is not positive is taken");
  if (known === null) return UNKNOWN;
  const F = P + 64, one = 1n << BigInt(F);
  let k = mag(a), y = shift(a[0], F - bits(a[0]));
  if (y < 181n << BigInt(F - 8)) { y <<= 1n; k -= 1; }
  if (y === one && k === 0 && a[2] === NONE) return ZERO;
  const z = (y - one << BigInt(F)) / (y + one), square = z * z >> BigInt(F);
  let term = size(z), total = term;
  for (let i = 3n; term; i += 2n) total += (term = term * square >> BigInt(F)) / i;
  const found = 2n * (z < 0n ? -total : total) + BigInt(k) * ln2(F);
  return make(found, -F, sum(Math.log2(Math.abs(k) + 1) - P - 40, plus(a[2], 1 - low(a))));
}
function floor(a) {
  if (a[2] > 1e4) return UNKNOWN;
  if (a[1] > 1e4 || (a[1] >= 0 && a[2] === NONE)) return a;
  const margin = a[2] === NONE ? ZERO : [1n, Math.ceil(a[2]), NONE], whole = b => shift(b[0], b[1]);
  const [least, most] = [add(a, negative(margin)), add(a, margin)].map(whole);
  return [least, 0, least === most ? NONE : bits(most - least)];
}
function pow(a, b) {
  const whole = b[2] === NONE && (b[1] >= 0 || shift(shift(b[0], b[1]), -b[1]) === b[0]);
  if (whole && mag(b) < 50) {
    const n = shift(b[0], b[1]), found = power(a, size(n));
    return n < 0n ? div(ONE, found) : found;
  }
  const known = sign(a);
  if (known === 0 && sign(b) === 1) return ZERO;
  if (known === 0) throw new Undefined("zero is raised to a power that is not positive");
  if (known < 0) throw new Undefined("a negative number is raised to a power that is not whole");
  return known === null ? UNKNOWN : exp(mul(b, log(a)));
}
function least(a, b) {
  const d = add(a, negative(b)), chosen = d[0] < 0n ? a : b;
  return sign(d) === null ? [chosen[0], chosen[1], Math.max(a[2], b[2])] : chosen;
}
const most = (a, b) => negative(least(negative(a), negative(b)));

// -- numbers as text -----------------------------------------------------------------------------
const NUMBER = /^\s*([+-]?)(\d+\.?\d*|\.\d+)(?:e([+-]?\d+))?(?:\s*\/\s*(\d+\.?\d*|\.\d+)(?:e([+-]?\d+))?)?\s*$/i;
function decimal(text, exponent) {
  const [whole, part = ""] = text.split("."), power = Number(exponent || 0) - part.length, digits = BigInt(whole + part);
  if (Math.abs(power) > 4300) return null;
  return power < 0 ? [digits, 10n ** BigInt(-power)] : [digits * 10n ** BigInt(power), 1n];
}
function read(text) { // [numerator, denominator], or null for what is no number
  const found = NUMBER.exec(text);
  if (!found) return null;
  const top = decimal(found[2], found[3]), bottom = decimal(found[4] || "1", found[5]);
  if (!top || !bottom || !bottom[0]) return null;
  return [(found[1] === "-" ? -1n : 1n) * top[0] * bottom[1], top[1] * bottom[0]];
}
const compare = (a, b) => { const d = a[0] * b[1] - b[0] * a[1]; return d > 0n ? 1 : d < 0n ? -1 : 0; };
function admits(symbol, value) {
  if (!value || (symbol.integer && value[0] % value[1])) return false;
  const below = symbol.low === null ? 1 : compare(value, read(symbol.low));
  const above = symbol.high === null ? -1 : compare(value, read(symbol.high));
  return (below > 0 || (!below && !symbol.lowOpen)) && (above < 0 || (!above && !symbol.highOpen));
}
function toNumber(a) {
  if (!a[0]) return 0;
  const over = Math.max(0, bits(a[0]) - 64), e = a[1] + over, half = Math.trunc(e / 2);
  return Number(shift(a[0], -over)) * 2 ** half * 2 ** (e - half);
}
function log10(a) {
  const m = bits(a[0]);
  return (Math.log2(toNumber([size(a[0]), -m])) + m + a[1]) * Math.LOG10E * Math.LN2;
}
function show(a, digits) { // beyond the doubles as a power of ten
  const value = toNumber(a);
  if (!a[0] || (Math.abs(value) > 1e-300 && Math.abs(value) < 1e300)) return short(value, digits);
  return (a[0] < 0n ? "−" : "") + "10^" + short(log10(a), 15).replace("-", "−");
}
function short(value, digits) {
  const text = value && Math.abs(value) < 1e-3 ? value.toExponential(digits - 1) : value.toPrecision(digits), [m, e] = text.split("e");
  const plain = m.includes(".") ? m.replace(/\.?0+$/, "") : m;
  return e ? plain + "e" + e.replace("+", "") : plain;
}

// -- the program ---------------------------------------------------------------------------------
const RULES = {
  add: (x, signs) => x.reduce((t, a, i) => add(t, signs[i] > 0 ? a : negative(a)), ZERO),
  mul: x => x.reduce(mul), div: x => div(x[0], x[1]), powi: (x, n) => power(x[0], BigInt(n)),
  root: (x, [p, q]) => power(rootOf(x[0], q), BigInt(p)), pow: x => pow(x[0], x[1]),
  min: x => x.reduce(least), max: x => x.reduce(most), abs: x => [size(x[0][0]), x[0][1], x[0][2]],
  exp: x => exp(x[0]), log: x => log(x[0]), floor: x => floor(x[0]), ceiling: x => negative(floor(negative(x[0]))),
};
// Fractions [numerator, denominator], as far as the rules keep them short; null beyond that.
const EXACT = {
  add: (x, signs) => x.reduce((t, a, i) => reduced(t[0] * a[1] + BigInt(signs[i]) * a[0] * t[1], t[1] * a[1]), [0n, 1n]),
  mul: x => x.reduce((t, a) => reduced(t[0] * a[0], t[1] * a[1])), div: x => reduced(x[0][0] * x[1][1], x[0][1] * x[1][0]),
  powi: (x, n) => bits(x[0][0]) * n < 1e4 && bits(x[0][1]) * n < 1e4 ? x[0].map(v => v ** BigInt(n)) : [0n, 0n],
  root: ([x], [p, q]) => {
    const found = x[0] < 0n ? [0n, 0n] : x.map(n => integerRoot(n, q));
    return found.every((n, i) => n ** BigInt(q) === x[i]) ? found.map(n => n ** BigInt(p)) : [0n, 0n];
  },
  abs: x => [size(x[0][0]), x[0][1]], floor: x => whole(x[0]), ceiling: x => [-whole([-x[0][0], x[0][1]])[0], 1n],
  min: x => x.reduce((a, b) => compare(a, b) < 0 ? a : b), max: x => x.reduce((a, b) => compare(a, b) > 0 ? a : b),
};
const whole = ([a, b]) => [a / b - (a < 0n && a % b ? 1n : 0n), 1n];
function reduced(a, b) {
  let x = size(a), y = size(b);
  while (y) [x, y] = [y, x % y];
  return x ? [(b < 0n ? -a : a) / x, size(b) / x] : [0n, 0n];
}
class Point {
  constructor(nodes, values) { this.nodes = nodes; this.values = values; this.memo = new Map(); this.fractions = new Map(); }
  exact(i) { // the value as a fraction, or null
    if (!this.fractions.has(i)) {
      const [op, args, data] = this.nodes[i], parts = op in EXACT ? args.map(a => this.exact(a)) : [null];
      const found = op === "num" ? read(data) : op === "sym" ? this.values[data] : parts.includes(null) ? null : EXACT[op](parts, data);
      this.fractions.set(i, found && found[1] && bits(found[0]) + bits(found[1]) < 2e4 ? found : null);
    }
    return this.fractions.get(i);
  }
  at(i, precision) { // the ball of a node
    P = precision;
    const found = this.memo.get(P) || new Map();
    this.memo.set(P, found);
    return this.walk(i, found);
  }
  walk(i, memo) {
    if (!memo.has(i)) {
      const [op, args, data] = this.nodes[i];
      memo.set(i, op === "num" ? ratio(read(data)) : op === "sym" ? ratio(this.values[data])
        : (op === "floor" || op === "ceiling") && this.exact(i) ? [this.exact(i)[0], 0, NONE] : op === "pi" ? make(pi(P + 16), -P - 16, -P - 4) : RULES[op](args.map(a => this.walk(a, memo)), data));
    }
    return memo.get(i);
  }
  accurate(i) { // to 52 bits, or as near as the precisions allow
    let found;
    for (const precision of PRECISIONS) {
      found = this.at(i, precision);
      if (found[2] <= mag(found) - 52) return found;
    }
    return (this.exact(i) || [1n])[0] === 0n ? ZERO : found;
  }
  sign(i, ...sides) { // -1, 0, 1, or "edge": within a relative 1e-12 of 0 without being the fraction 0
    for (const precision of PRECISIONS) {
      const d = this.at(i, precision), known = sign(d);
      if (known === 0 || (known === null && (this.exact(i) || [1n])[0] === 0n)) return 0;
      const side = sides.map(s => this.at(s, precision)).reduce((a, b) => mag(a) < mag(b) ? b : a);
      if (known === null && sum(mag(d), d[2]) < mag(side) - 1 + NEAR) return "edge";
      if (known !== null) return sign(side) === null || Math.abs(toNumber(div(d, side))) < 1e-12 ? "edge" : known;
    }
    return "edge";
  }
}
const ratio = value => div([value[0], 0, NONE], [value[1], 0, NONE]);
const exactly = x => { let e = 0; while (x % 1) { x *= 2; e -= 1; } return [BigInt(x), e]; };
const VERDICTS = { "<=": s => s >= 0, "<": s => s > 0, "=": s => s === 0, "!=": s => s !== 0 };
function holds(point, relation) { // true, false, or "edge"
  try {
    if (relation.kind === "choice") return chosen(point, relation);
    const found = point.sign(relation.slack, ...relation.sides);
    return found === "edge" ? "edge" : VERDICTS[relation.kind](found);
  } catch (error) { return missing(error, false); }
}
function chosen(point, relation) { // the prescribed value itself, or one rounded down by less than a relative 1e-12
  const found = point.sign(relation.slack, ...relation.sides);
  if (found !== "edge") return found === 0;
  const share = toNumber(div(point.at(relation.slack, 512), point.at(relation.sides[1], 512)));
  return relation.rounded && share < -1e-18 && share > -0.99e-12 ? true : "edge";
}
function missing(error, answer) {
  if (!(error instanceof Undefined)) throw error;
  return answer;
}
// What the page says at these constants (name -> text). An error is a sentence.
function compute(data, reading, texts) {
  const values = {}, names = reading.symbols;
  for (const name of names) {
    values[name] = read(texts[name]);
    if (!admits(data.symbols[name], values[name]))
      return { error: `${name} = ${texts[name]} is ` + (values[name] ? `outside its domain: ${data.symbols[name].allowed}.`
        : "not a number; write an integer, a decimal such as 1e-3, or a ratio such as 1/3."), name };
  }
  const point = new Point(data.nodes, values), rows = reading.relations.map(relation => holds(point, relation));
  const bad = reading.relations.find((relation, i) => relation.domain && rows[i] === false);
  if (bad) return { error: `${bad.text} is needed for the statement to make sense.`, rows };
  const found = { rows, scope: rows.includes(false) ? false : rows.includes("edge") ? "edge" : true, largest: {} };
  try {
    found.ball = point.accurate(reading.bound);
    found.vacuous = reading.trivial === null ? null : point.sign(reading.below, reading.bound, reading.trivial);
    if (found.vacuous !== null && found.vacuous !== "edge") found.vacuous = found.vacuous >= 0;
  } catch (error) { found.undefined = missing(error, error.message); }
  for (const name of reading.steps) found.largest[name] = largest(data, reading, values, rows, name);
  for (const name of reading.prescribed) found.largest[name] = prescribed(data.symbols[name], point, reading, name);
  return found;
}
function prescribed(symbol, point, reading, name) {
  const relation = reading.relations.find(r => r.kind === "choice" && r.name === "choice of " + name);
  try {
    const found = point.accurate(relation.sides[1]), exact = point.exact(relation.sides[1]);
    const text = exact && !relation.rounded ? exact[0] + (exact[1] > 1n ? "/" + exact[1] : "") : below(toNumber(found), 15);
    return admits(symbol, read(text)) ? text : "none";
  } catch (error) { return missing(error, "none"); }
}
// The top of the allowed values by bisection to 1e-10: each condition is monotone in the step, so they are an interval.
function largest(data, reading, values, rows, name) {
  const symbol = data.symbols[name], own = reading.relations.filter(r => name in r.monotone);
  if (reading.relations.some((r, i) => !own.includes(r) && r.kind !== "choice" && rows[i] === false)) return "none";
  const fits = direction => t => {
    const [m, e] = exactly(2 ** t), point = new Point(data.nodes, { ...values, [name]: e < 0 ? [m, 1n << BigInt(-e)] : [m, 1n] });
    try {
      return own.every(r => r.monotone[name] !== direction || VERDICTS[r.kind](Number(point.at(r.slack, 128)[0] > 0n) || -Number(point.at(r.slack, 128)[0] < 0n)));
    } catch (error) { return missing(error, false); }
  };
  const under = fits(-1), over = fits(1), end = symbol.high === null ? 1000 : log10(ratio(read(symbol.high))) / Math.log10(2);
  let high = end, floorAt = -1000;
  if (under(high)) {
    if (symbol.high === null) return "unlimited";
    floorAt = high;
  } else {
    if (!under(floorAt)) return "none";
    while (high - floorAt > 1e-10) {
      const middle = (floorAt + high) / 2;
      if (under(middle)) floorAt = middle; else high = middle;
    }
  }
  return over(floorAt) ? below(2 ** floorAt, 10) : "none";
}
function below(value, digits) { // rounded down to so many digits
  const text = short(value, digits), e = Math.floor(Math.log10(Math.abs(value))) - digits + 1;
  return Number(text) <= value ? text : short(value - 10 ** e, digits);
}
const relativeError = ball => ball[2] === NONE ? 0 : 2 ** (ball[2] - mag(ball) + 1);
root.boundcheckPlayground = { compute, toNumber, log10, show, short, relativeError, read, ratio, admits };
})(globalThis);
