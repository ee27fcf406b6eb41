/** A built-in example: 1,000 customers, whether they bought, and the scores of two models. The same rows on every visit. */

const ROWS = 1000; // as many as a small study has: intervals are seen

export function exampleFile(): File {
  let seed = 1;
  const random = (): number => (seed = (seed * 48271) % 2147483647) / 2147483647; // Park and Miller's generator
  const normal = (): number => Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random());
  const chance = (logit: number): number => 1 / (1 + Math.exp(-logit));
  const rows = Array.from({ length: ROWS }, () => {
    const [age, visits] = [normal(), normal()];
    const bought = random() < chance(1.2 * age + 0.8 * visits - 1.4) ? "yes" : "no";
    const scores = [chance(1.1 * age + 0.7 * visits - 1.4 + 0.2 * normal()), chance(1.2 * age - 1.2)];
    return [bought, ...scores.map((score) => score.toFixed(4)), random() < 0.4 ? "north" : "south"].join(",");
  });
  return new File([["bought,new model,old model,region", ...rows].join("\n")], "example.csv");
}
