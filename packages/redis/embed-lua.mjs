// Embeds the scripts of src/lua in one module, so that they come along into dist, into bundles and into tests:
//   node embed-lua.mjs
// A line `-- include <file>` stands for that file of src/lua/include. A test fails while the module and the files differ.

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
  `// Written by embed-lua.mjs from the files beside it: change those, and run \`npm run embed-lua\`.

/** The text of each script, by the name of its file. */
export const SCRIPT_TEXTS = {
${entries.join("")}} as const;
`,
);
