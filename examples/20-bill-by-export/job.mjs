// Sends rows of usage to the meter. It saves its position after all of them arrived. If it is killed before, it sends some of them again.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createLatchkey, openStore } from "latchkey";

const { STORE = "", METER = "", UNTIL_FILE = "", START, NOW } = process.env;
const latchkey = createLatchkey({ store: openStore(STORE), clock: () => Number(NOW) });
const start = Number(existsSync(UNTIL_FILE) ? readFileSync(UNTIL_FILE, "utf8") : START);
const question = /** @type {const} */ ({ granularity: "hour", by: "identity", limit: 2 });

let until = start;
let cursor;
do {
  const page = await latchkey.exportUsage({ ...question, start, end: Number(NOW), cursor });
  for (const { id, identityId = "", uses } of page.rows) {
    const { externalId } = await latchkey.getIdentity({ identityId });
    const body = JSON.stringify({ id, externalId, uses });
    const response = await fetch(METER, { method: "POST", body });
    if (!response.ok) throw new Error(`the meter answered ${response.status}`);
  }
  ({ until, cursor } = page);
} while (cursor !== undefined);
writeFileSync(UNTIL_FILE, String(until));
await latchkey.close();
