"use strict";
// Numbers that the models and the sampler share: random draws, densities, sums that stay numbers.
// This file and those of the models run in the page and in its worker: nothing here touches the document.

const LOG_TWO_PI = Math.log(2 * Math.PI);
const LARGEST = Number.MAX_VALUE;

function clip(x, low, high) {
  return x < low ? low : x > high ? high : x;
}

// Random numbers: xoshiro128** (Blackman and Vigna), seeded by splitmix32, so that equal questions have equal answers.
class Random {
  constructor(seed) {
    let state = seed >>> 0;
    const next = () => {
      state = (state + 0x9e3779b9) >>> 0;
      let z = state;
      z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
      z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
      return (z ^ (z >>> 16)) >>> 0;
    };
    this.a = next();
    this.b = next();
    this.c = next();
    this.d = next();
    this.spare = NaN; // the second of two normal draws
  }

  whole() {
    const times = Math.imul(this.b, 5);
    const result = Math.imul((times << 7) | (times >>> 25), 9) >>> 0;
    const shifted = this.b << 9;
    this.c ^= this.a;
    this.d ^= this.b;
    this.b ^= this.c;
    this.a ^= this.d;
    this.c ^= shifted;
    this.d = (this.d << 11) | (this.d >>> 21);
    return result;
  }

  // In [0, 1), with 53 random bits.
  uniform() {
    return ((this.whole() >>> 5) * 67108864 + (this.whole() >>> 6)) / 9007199254740992;
  }

  normal() {
    if (!Number.isNaN(this.spare)) {
      const kept = this.spare;
      this.spare = NaN;
      return kept;
    }
    let u, v, s;
    do {
      u = 2 * this.uniform() - 1;
      v = 2 * this.uniform() - 1;
      s = u * u + v * v;
    } while (s >= 1 || s === 0);
    const factor = Math.sqrt((-2 * Math.log(s)) / s);
    this.spare = v * factor;
    return u * factor;
  }

  // Marsaglia and Tsang (2000); shapes below 1 are raised by one and drawn back.
  gamma(shape) {
    if (shape < 1) return this.gamma(shape + 1) * Math.pow(1 - this.uniform(), 1 / shape);
    const d = shape - 1 / 3, c = 1 / Math.sqrt(9 * d);
    for (;;) {
      const x = this.normal();
      const v = Math.pow(1 + c * x, 3);
      if (v > 0 && Math.log(1 - this.uniform()) < (x * x) / 2 + d - d * v + d * Math.log(v)) return d * v;
    }
  }

  student(freedom) {
    return this.normal() / Math.sqrt(this.gamma(freedom / 2) / (freedom / 2));
  }
}

// log Gamma(x + 1/2) - log Gamma(x): by its asymptotic series from 20 on, below by steps of one up to there. The
// difference of two log-gammas would lose its digits where x is large.
function logGammaStep(x) {
  let steps = 0;
  while (x < 20) {
    steps += Math.log((x + 0.5) / x);
    x += 1;
  }
  const r = 1 / (x * x);
  return Math.log(x) / 2 - (1 / 8 - r * (1 / 192 - r * (1 / 640 - r * (17 / 14336 - (r * 31) / 18432)))) / x - steps;
}

const heights = new Map(); // of Student t densities, by their degrees of freedom

function studentHeight(freedom) {
  let height = heights.get(freedom);
  if (height === undefined) {
    height = logGammaStep(freedom / 2) - Math.log(Math.PI * freedom) / 2;
    heights.set(freedom, height);
  }
  return height;
}

// A distribution of a continuous child is {location, scale, freedom}; freedom of Infinity is a normal one.
function logDensity(at, x) {
  let z = (x / 2 - at.location / 2) / at.scale * 2; // the difference itself may be too large
  if (at.freedom === Infinity) {
    z = clip(z, -1e150, 1e150);
    return -(z * z + LOG_TWO_PI) / 2 - Math.log(at.scale);
  }
  z = Math.abs(clip(z, -LARGEST, LARGEST));
  const tail = z < 1e150 ? Math.log1p((z * z) / at.freedom) : 2 * Math.log(z) - Math.log(at.freedom);
  return studentHeight(at.freedom) - ((at.freedom + 1) / 2) * tail - Math.log(at.scale);
}

function drawFrom(at, random) {
  const z = at.freedom === Infinity ? random.normal() : random.student(at.freedom);
  return clip(at.location + at.scale * z, -LARGEST, LARGEST);
}

// In the user's units, as fitted/leaves.py does.
function moved(at, shift, scale) {
  at.location = clip(shift + scale * at.location, -LARGEST, LARGEST);
  at.scale = clip(scale * at.scale, Number.MIN_VALUE, LARGEST);
  return at;
}

function logSumExp(logs) {
  let largest = -Infinity, total = 0;
  for (const log of logs) if (log > largest) largest = log;
  if (largest === -Infinity) return largest;
  for (const log of logs) total += Math.exp(log - largest);
  return largest + Math.log(total);
}

// The first place whose cumulated share exceeds u, by halving; `from` is where the row begins.
function pick(cumulated, from, width, u) {
  let low = from, high = from + width - 1;
  const target = u * cumulated[high];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (cumulated[middle] > target) high = middle;
    else low = middle + 1;
  }
  return low - from;
}

// The Legendre polynomials of degree 1 to `degree` at x.
function legendre(x, degree) {
  const found = [1, x];
  for (let j = 1; j < degree; j++) found.push(((2 * j + 1) * x * found[j] - j * found[j - 1]) / (j + 1));
  return found.slice(1, degree + 1);
}
