import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { connectRedis } from "./fixture/redis-server.js";
import type { TaskAnswer } from "./run-tasks.js";
import { FULL, QUICK } from "./scale.js";
import { taskOf } from "./tasks.js";

// Started by run-tasks.ts: does one task after the other, sends what each has measured, and ends.
const [folder = "", redis = "", speed = "", ...ids] = process.argv.slice(2);
// Without the run that asked, nobody wants the answer.
process.on("disconnect", () => process.exit(1));
const scale = speed === "quick" ? QUICK : FULL;
try {
  for (const [index, id] of ids.entries()) {
    const place = { folder: join(folder, String(index)), redis: redis === "" ? null : redis };
    mkdirSync(place.folder);
    if (place.redis !== null) await emptyRedis(place.redis);
    await send({ id, measurements: await taskOf(id).work({ place, scale }) });
  }
  process.exit(0);
} catch (error) {
  process.stderr.write(`\n${error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
}

async function emptyRedis(socketPath: string): Promise<void> {
  const client = await connectRedis(socketPath);
  await client.flushall();
  client.disconnect();
}

function send(answer: TaskAnswer): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send?.(answer, undefined, undefined, (error) => (error ? reject(error) : resolve()));
  });
}
