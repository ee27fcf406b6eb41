/** In place of hyparquet's module of that name: a flat column in which nothing is missing is its values as they are. */

import { assembleLists as assembled, assembleNested } from "../../node_modules/hyparquet/src/assemble.js";

type Assemble = typeof assembled;

export const assembleLists: Assemble = (output, definitionLevels, repetitionLevels, values, schemaPath) =>
  schemaPath.length === 2 && !definitionLevels?.length && !repetitionLevels.length ? values : assembled(output, definitionLevels, repetitionLevels, values, schemaPath);

export { assembleNested };
