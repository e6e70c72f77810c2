// A billing system receives events about keys. The sending process is killed in the middle of a request, and another one continues.

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { createLatchkey, openStore } from "latchkey";
import { Webhook } from "standardwebhooks";

const folder = mkdtempSync(join(tmpdir(), "latchkey-webhooks-"));
const STORE = `sqlite:${join(folder, "keys.db")}`;
const SECRET = `whsec_${randomBytes(32).toString("base64")}`;

/** The billing system: it checks each request, and handles each event once. */
const seen = new Set();
const verifier = new Webhook(SECRET);
const server = createServer(async (request, response) => {
  const headers = /** @type {Record<string, string>} */ (request.headers);
  const event = /** @type {any} */ (verifier.verify(await text(request), headers));
  if (event.type === "key.updated" && !wasKilled) {
    wasKilled = true;
    console.log("(the process that sends is killed in the middle of a request)");
    sender.kill("SIGKILL");
    return;
  }
  response.writeHead(204).end();
  const id = headers["webhook-id"];
  if (seen.has(id)) return;
  seen.add(id);
  const name = event.data.changes.find(({ field = "" }) => field === "name")?.after;
  console.log(name === undefined ? event.type : `${event.type}  ${name}`);
  if (event.type === "key.deleted") server.emit("done");
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
const address = server.address();
if (typeof address !== "object" || address === null) throw new Error("not listening on a port");
const URL = `http://127.0.0.1:${address.port}/`;

async function startSender() {
  const child = spawn(process.execPath, [join(import.meta.dirname, "sender.mjs")], {
    env: { ...process.env, STORE, URL, SECRET },
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return child;
}

let wasKilled = false;
let sender = await startSender();
const ended = once(sender, "exit");
const done = once(server, "done");

const latchkey = createLatchkey({ store: openStore(STORE) });
const { apiId } = await latchkey.createApi({ name: "map tiles" });
const { keyId } = await latchkey.createKey({ apiId, name: "build server" });
await latchkey.updateKey({ keyId, name: "build server, north" });
await ended;

await latchkey.updateKey({ keyId, name: "build server, south" });
await latchkey.deleteKey({ keyId });
sender = await startSender();
await done;

sender.kill("SIGKILL");
await once(sender, "exit");
server.close();
await latchkey.close();
rmSync(folder, { recursive: true });
