/** Words for the same numbers, one vocabulary for each audience. */

import type { State } from "./state";

export interface Words {
  readonly tpr: string;
  readonly fpr: string;
  readonly tnr: string;
  readonly precision: string;
  readonly depth: string;
  /** Acting on a case, as in "contacting everybody". */
  readonly acting: string;
  readonly threshold: string;
}

export type Audience = "learning" | "clinical" | "marketing";

const WORDS: Record<Audience, Words> = {
  learning: { tpr: "True positive rate", fpr: "False positive rate", tnr: "True negative rate", precision: "Precision", depth: "Share predicted positive", acting: "treating", threshold: "Act if score ≥" },
  clinical: { tpr: "Sensitivity", fpr: "1 − specificity", tnr: "Specificity", precision: "PPV", depth: "Share treated", acting: "treating", threshold: "Treat if risk ≥" },
  marketing: { tpr: "Responders reached", fpr: "Others contacted", tnr: "Others spared", precision: "Response rate", depth: "Share contacted", acting: "contacting", threshold: "Contact if score ≥" },
};

export const AUDIENCES = [["learning", "machine learning"], ["clinical", "clinical"], ["marketing", "marketing"]] as const;

export function wordsOf({ views }: State): Words {
  return WORDS[views.audience.value];
}

/** Words within a sentence: an abbreviation keeps its capitals. */
export function lower(word: string): string {
  return word === word.toUpperCase() ? word : word.charAt(0).toLowerCase() + word.slice(1);
}
