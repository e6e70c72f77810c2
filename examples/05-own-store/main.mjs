import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLatchkey } from "@latchkey/core";
import { register } from "tsx/esm/api";

// The store is written in TypeScript, and compiled when it is loaded.
register();
const { jsonFileStore } = await import("./json-file-store.js");

const directory = mkdtempSync(join(tmpdir(), "latchkey-own-store-"));
const path = join(directory, "keys.json");

const latchkey = createLatchkey({ store: jsonFileStore(path) });
const { apiId } = await latchkey.createApi({ name: "tide-tables" });
const { key, keyId } = await latchkey.createKey({ apiId, prefix: "tide", remaining: 3 });
console.log(`issued      ${keyId}`);

const verdicts = await Promise.all(Array.from({ length: 5 }, () => latchkey.verifyKey({ key })));
console.log(`five uses   ${verdicts.map(({ code }) => code).join(" ")}`);
await latchkey.close();

// A later process, which has nothing but the file.
const again = createLatchkey({ store: jsonFileStore(path) });
console.log(`opened      ${(await again.verifyKey({ key })).code}`);
await again.updateKey({ keyId, remaining: 1 });
console.log(`one more    ${(await again.verifyKey({ key })).code}`);
await again.deleteKey({ keyId });
console.log(`deleted     ${(await again.verifyKey({ key })).code}`);
await again.close();

const text = readFileSync(path, "utf8");
const { length } = JSON.parse(text);
console.log(`the file    ${length} rows, and the secret in ${text.includes(key) ? "one" : "none"}`);
rmSync(directory, { recursive: true });
