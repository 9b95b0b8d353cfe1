// Lets the suite load where Node has no fs.globSync yet (before 22); no server scenario uses it.
import * as fs from "node:fs";
import { register } from "node:module";

const stand_in = `data:text/javascript,export * from "node:fs"; export const globSync = undefined;`;
const hooks = `
export async function resolve(specifier, context, next) {
  const asked = specifier === "fs" && context.parentURL?.includes("/conformance/dist/");
  return asked ? { url: ${JSON.stringify(stand_in)}, shortCircuit: true } : next(specifier, context);
}`;

if (fs.globSync === undefined) register(`data:text/javascript,${encodeURIComponent(hooks)}`);
