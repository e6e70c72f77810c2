// A code host reports to a service which of its keys were committed. One of the two reported keys is recoverable and is rotated, the other
// one is disabled.

import { createServer } from "node:http";
import { createLatchkey, createLeakHandler, memoryStore, toNodeListener } from "latchkey";
import { publicKeys, signReport } from "./code-host.mjs";

const vault = { current: "v1", keys: { v1: crypto.getRandomValues(new Uint8Array(32)) } };
const latchkey = createLatchkey({ store: memoryStore(), vault });
const { apiId } = await latchkey.createApi({ name: "map tiles" });
const issue = { apiId, prefix: "tiles_live" };
const build = await latchkey.createKey({ ...issue, name: "build server", recoverable: true });
const phone = await latchkey.createKey({ ...issue, name: "phone app" });

const handler = createLeakHandler(latchkey.actingAs("code host"), { publicKeys, policy: "rotate" });
const server = createServer(toNodeListener(handler));
await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
const address = server.address();
if (typeof address !== "object" || address === null) throw new Error("not listening on a port");
const url = `http://127.0.0.1:${address.port}/leaks`;

const place = { type: "tiles_key", source: "commit" };
const report = signReport([
  { ...place, token: build.key, url: "https://code.example/octo/app/ci.yml" },
  { ...place, token: phone.key, url: "https://code.example/octo/app/Config.kt" },
  { ...place, token: "tiles_live_example", url: "https://code.example/octo/app/README" },
]);

/** Sends a report, and prints the answer of the service. @param {string} step @param {typeof report} sent */
async function send(step, { headers, body }) {
  const response = await fetch(url, { method: "POST", headers, body });
  const answer = await response.json();
  const said = Array.isArray(answer) ? answer.map(({ label }) => label).join(", ") : "nothing";
  console.log(`${step.padEnd(22)} ${response.status}  ${said}`);
}

await send("a forged report", { ...report, body: report.body.replace("commit", "gists") });
await send("the report", report);
await send("the report again", report);

for (const { key, keyId } of [build, phone]) {
  const { name = "", rotatedTo } = await latchkey.getKey({ keyId });
  const { code } = await latchkey.verifyKey({ key });
  console.log(`${name.padEnd(22)} ${code}`);
  const { events } = await latchkey.listAuditEvents({ keyId });
  const leaked = events.filter(({ type }) => type === "key.leaked");
  for (const { actor, changes } of leaked)
    console.log(`  told by ${actor}: ${changes.map(({ after }) => after).join(", ")}`);
  if (rotatedTo === undefined) continue;
  const successor = await latchkey.getKey({ keyId: rotatedTo, decrypt: true });
  const verdict = await latchkey.verifyKey({ key: successor.plaintext ?? "" });
  console.log(`  its owner fetches the new secret: ${verdict.code}`);
}

server.close();
await latchkey.close();
