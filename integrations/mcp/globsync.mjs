// Gives the package of the conformance suite a name of "fs" that Node.js has since version 22, and that its tests of clients do not use.
import { register } from "node:module";

const fs = 'export * from "node:fs"; export { default } from "node:fs"; export const globSync = () => [];';
const hooks = `export const resolve = (name, context, next) =>
  name === "fs" && context.parentURL?.includes("/conformance/dist/")
    ? { url: "data:text/javascript," + encodeURIComponent(${JSON.stringify(fs)}), shortCircuit: true }
    : next(name, context);`;
register("data:text/javascript," + encodeURIComponent(hooks));
