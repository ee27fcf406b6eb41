/**
 * Stands in for d3-format in the bundle: the browser formats numbers itself (`format.ts`), so that the formats which a
 * scale could give its ticks need not travel.
 */

function unused(): never {
  throw new Error("ticks are formatted by their axis");
}

export {
  unused as format,
  unused as formatPrefix,
  unused as formatSpecifier,
  unused as precisionFixed,
  unused as precisionPrefix,
  unused as precisionRound,
};
