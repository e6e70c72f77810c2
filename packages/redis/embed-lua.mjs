// Embeds the scripts of src/lua in one module, which brings them into dist, into bundles and into tests:
//   node embed-lua.mjs
// A line `-- include <file>` is replaced by that file of src/lua/include. A test fails while the module and the files differ.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";

const folder = new URL("src/lua/", import.meta.url);

const read = (file) => readFileSync(new URL(file, folder), "utf8");
const whole = (script) =>
  script.replace(/^-- include (\S+)\n/gm, (_, file) => whole(read(`include/${file}`)));

const entries = readdirSync(folder)
  .filter((file) => file.endsWith(".lua"))
  .sort()
  .map((file) => {
    const name = file.slice(0, -4).replace(/-([a-z])/g, (_, letter) => letter.toUpperCase());
    return `  ${name}: ${JSON.stringify(whole(read(file)))},\n`;
  });

writeFileSync(
  new URL("scripts.generated.ts", folder),
  `/** Each script by the name of its file. Written by embed-lua.mjs: change the files, and run \`npm run embed-lua\`. */
export const SCRIPT_TEXTS = {
${entries.join("")}} as const;
`,
);
