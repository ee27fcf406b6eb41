/** "Save report": the page that Python would write, put together from parts that are in this one. */

import { download, h, table } from "../dom";
import { fileName } from "../chart/export";
import { fixed } from "../format";
import type { Slice } from "../data";
import { type Source, surer } from "../source";
import type { State } from "../state";
import { payloadOf } from "./pack";

/** Where the parts are that every report is made of. */
export interface Parts {
  /** The page, with places that are named @@so@@. */
  readonly shell: string;
  readonly script: string;
  readonly style: string;
}

export async function saveReport(state: State, source: Source, parts: Parts): Promise<void> {
  const slices: Slice[] = [];
  const { signal } = new AbortController();
  for (const part of state.report.parts.keys()) {
    const slice = await source.counts({ part }, signal);
    const sure = await source.sureness?.({ part }, signal);
    slices.push(sure ? { ...slice, models: slice.models.map((model, i) => surer(model, sure, i)), comparisons: sure.comparisons } : slice);
  }
  const payload = JSON.stringify(payloadOf(state.report, state.context.value, slices));
  const safe = payload.replace(/</g, "\\u003c").replace(/\u2028/g, "\\u2028").replace(/\u2029/g, "\\u2029");
  const models = table(["model", "AUC"], slices[0]!.models.map(({ name, auc }) => [name, fixed(auc.value, 4)]));
  const values: Record<string, string> = {
    title: escaped(state.report.title),
    verdict: escaped(document.querySelector(".verdict")?.textContent ?? ""),
    models: models.outerHTML,
    payload: safe,
    script: parts.script,
    style: parts.style,
  };
  const page = parts.shell.replace(/@@([a-z]+)@@/g, (place, key: string) => values[key] ?? place);
  download(`${fileName(state.report.title, "report")}.html`, page, "text/html");
}

function escaped(text: string): string {
  return h("p", {}, text).innerHTML;
}
