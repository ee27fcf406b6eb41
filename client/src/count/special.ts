/** Functions of probability theory, to about 1e-14: what SciPy's `special` has under these names. */

/** By how much the logarithm of the gamma function exceeds (a - 1/2) log a - a + log(2 pi) / 2. */
function beyondStirling(a: number): number {
  let excess = 0;
  for (; a < 12; a++) excess += (a + 0.5) * Math.log1p(1 / a) - 1;
  const s = 1 / (a * a);
  return excess + (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s * (1 / 1188 - (s * 691) / 360360))))) / a;
}

/** x^a y^b / B(a, b), where x + y = 1. */
function betaDensity(a: number, b: number, x: number, y: number): number {
  const n = a + b;
  const tilt = x * b - y * a;
  const power = (share: number, by: number, mean: number): number => {
    const more = by / mean; // share of the exponent beyond what its mean has
    return share * (Math.abs(more) < 0.5 ? Math.log1p(more) : Math.log(1 + more));
  };
  const log = power(a, tilt, a) + power(b, -tilt, b);
  return Math.exp(log + beyondStirling(n) - beyondStirling(a) - beyondStirling(b)) * Math.sqrt((a * b) / (2 * Math.PI * n));
}

/** The regularized incomplete beta function at x, where y = 1 - x is given beside it: near 1 it says more. */
export function betainc(a: number, b: number, x: number, y: number = 1 - x): number {
  if (x <= 0) return 0;
  if (y <= 0) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - betaTail(b, a, y, x);
  return betaTail(a, b, x, y);
}

/** By Lentz's method for the continued fraction (Numerical Recipes, 6.4). */
function betaTail(a: number, b: number, x: number, y: number): number {
  const tiny = 1e-300;
  let c = 1;
  let d = 1 / (1 - ((a + b) * x) / (a + 1) || tiny);
  let fraction = d;
  for (let m = 1; m < 100_000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / (1 + even * d || tiny);
    c = 1 + even / c || tiny;
    fraction *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / (1 + odd * d || tiny);
    c = 1 + odd / c || tiny;
    fraction *= d * c;
    if (Math.abs(d * c - 1) < 1e-16) break;
  }
  return (betaDensity(a, b, x, y) * fraction) / a;
}

/** Where the incomplete beta function reaches p. */
export function betaincinv(a: number, b: number, p: number): number {
  return zero((x) => betainc(a, b, x) - p, 0, 1, 1e-24);
}

export function ndtr(z: number): number {
  return z < 0 ? 0.5 * erfc(-z / Math.SQRT2) : 1 - 0.5 * erfc(z / Math.SQRT2);
}

function erfc(x: number): number {
  if (x < 2) {
    let term = x;
    let sum = x;
    for (let n = 1; term > 1e-18 * sum; n++) {
      term *= (2 * x * x) / (2 * n + 1);
      sum += term;
    }
    return 1 - (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
  }
  let fraction = 0;
  for (let n = 120; n > 0; n--) fraction = n / 2 / (x + fraction);
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / (x + fraction);
}

function studentTail(df: number, t: number): number {
  const n = df + t * t;
  return 0.5 * betainc(df / 2, 0.5, df / n, (t * t) / n);
}

/** The t beyond which a share p <= 1/2 of Student's distribution lies, at most 1e8. */
export function studentQuantile(df: number, p: number): number {
  if (p >= 0.5) return 0;
  let [low, high] = [Math.log(1e-300), Math.log(1e8)];
  if (studentTail(df, 1e8) > p) return 1e8;
  let u = Math.log(Math.max(1e-8, Math.sqrt(Math.max(0, -2 * Math.log(2 * p)))));
  for (let i = 0; i < 200; i++) {
    const t = Math.exp(u);
    const tail = studentTail(df, t);
    const excess = Math.log(tail / p);
    if (excess > 0) low = u;
    else high = u;
    const n = df + t * t;
    const density = betaDensity(df / 2, 0.5, df / n, (t * t) / n); // of the tail's logarithm, times t
    const step = (excess * tail) / density;
    const next = Number.isFinite(step) && u + step > low && u + step < high ? u + step : (low + high) / 2;
    if (Math.abs(next - u) < 1e-15 * Math.max(1, Math.abs(u))) return Math.exp(next);
    u = next;
  }
  return Math.exp(u);
}

/** Where a function that changes its sign between two places is 0: by the Illinois method, with a bisection at every eighth step and none shorter than the tolerance. */
export function zero(f: (x: number) => number, a: number, b: number, tolerance: number): number {
  let [fa, fb] = [f(a), f(b)];
  for (let i = 0; i < 200 && fb !== 0 && Math.abs(b - a) > tolerance; i++) {
    const step = (fb * (a - b)) / (fb - fa);
    const least = Math.sign(a - b) * tolerance;
    const c = i % 8 === 7 ? (a + b) / 2 : b + (Math.abs(step) < tolerance ? least : step);
    const fc = f(c);
    if (Math.sign(fc) === Math.sign(fb)) fa /= 2;
    else [a, fa] = [b, fb];
    [b, fb] = [c, fc];
  }
  return b;
}
