/** The mailed report: what Python counted is in the file. The other homes take `start` from here. */

import type { Payload } from "./data";
import { start } from "./report";
import { embedded } from "./source";

export { batch, effect } from "@preact/signals-core";
export { start };

const counted = document.getElementById("report-data")?.textContent;
if (counted) void start(embedded(JSON.parse(counted) as Payload));
