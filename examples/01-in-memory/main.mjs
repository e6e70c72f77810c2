import { createLatchkey, memoryStore } from "latchkey";

const latchkey = createLatchkey({ store: memoryStore() });

// An API is a key space: the keys of one service.
const { apiId } = await latchkey.createApi({ name: "tide-tables" });

// The secret is handed out here and never again: the store keeps its hash.
const { key, keyId } = await latchkey.createKey({ apiId, prefix: "tide", remaining: 3 });
console.log(`issued      ${keyId}`);

const first = await latchkey.verifyKey({ key });
console.log(`verified    ${first.code}, ${first.valid ? first.remaining : "no"} uses left`);

// One key may be asked many times at once: never more is admitted than there are uses.
const verdicts = await Promise.all(Array.from({ length: 5 }, () => latchkey.verifyKey({ key })));
console.log(`five more   ${verdicts.map(({ code }) => code).join(" ")}`);

await latchkey.updateKey({ keyId, remaining: null, enabled: false });
console.log(`disabled    ${(await latchkey.verifyKey({ key })).code}`);

await latchkey.updateKey({ keyId, enabled: true });
console.log(`enabled     ${(await latchkey.verifyKey({ key })).code}`);

await latchkey.deleteKey({ keyId });
console.log(`deleted     ${(await latchkey.verifyKey({ key })).code}`);

await latchkey.close();
