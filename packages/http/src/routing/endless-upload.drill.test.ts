import { spawn } from "node:child_process";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { toNodeListener } from "../index.js";
import { BY_HEADER } from "../testing/by-header.js";
import { listen } from "../testing/listen.js";
import { openService } from "../testing/open-service.js";

const MIB = 1_048_576;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Bytes of memory that grow with what the process reads. */
function bytesHeld(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** A client in its own process: it sends until it is disconnected, and prints how many bytes it sent and the status it got. */
const CLIENT = `
const { connect } = require("node:net");
const [port, headers] = process.argv.slice(1);
const socket = connect(Number(port), "127.0.0.1");
const chunk = Buffer.concat([Buffer.from("10000\\r\\n"), Buffer.alloc(65_536, "x"), Buffer.from("\\r\\n")]);
let sent = 0;
let received = "";
function send() {
  do sent += chunk.length;
  while (socket.write(chunk));
}
socket.write("POST /v1/keys.createKey HTTP/1.1\\r\\nHost: x\\r\\n" + headers + "Transfer-Encoding: chunked\\r\\n\\r\\n");
socket.on("drain", send).on("data", (data) => { received += data; }).on("error", () => {});
socket.on("close", () => { console.log(JSON.stringify({ sent, status: received.slice(9, 12) })); });
send();
`;

function upload(port: number, headers: string): Promise<{ sent: number; status: string }> {
  const client = spawn(process.execPath, ["-e", CLIENT, String(port), headers]);
  let output = "";
  client.stdout.on("data", (text) => {
    output += text;
  });
  return new Promise((resolve, reject) => {
    client.on("error", reject).on("close", () => resolve(JSON.parse(output)));
  });
}

/** Maximum growth of the buffers while something runs. */
async function growthOfBuffers(run: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage().arrayBuffers;
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().arrayBuffers);
  }, 2);
  await run().finally(() => clearInterval(timer));
  return most - before;
}

describe.each([
  ["root keys", {}],
  ["a host's own authentication", BY_HEADER],
] as const)("an endless upload, with %s", (_way, options) => {
  test("gets its 413, is disconnected, and the process grows by less than 2 MiB", async () => {
    const service = await openService(options);
    const { port } = await listen(toNodeListener(service.handler));
    const headers =
      `Authorization: Bearer ${service.root}\r\nx-permissions: ["*"]\r\n` +
      "Content-Type: application/json\r\n";
    // The first request creates what the process keeps.
    await upload(port, headers);
    const before = bytesHeld();
    const outcomes: { sent: number; status: string }[] = [];
    const growth = await growthOfBuffers(async () => {
      outcomes.push(await upload(port, headers));
    });
    expect(outcomes[0]?.status).toBe("413");
    expect(outcomes[0]?.sent).toBeGreaterThan(MIB);
    expect(growth).toBeLessThan(2 * MIB);
    // Another thread frees the buffers, a moment after the collection.
    await expect.poll(() => bytesHeld() - before).toBeLessThan(2 * MIB);
  });
});
