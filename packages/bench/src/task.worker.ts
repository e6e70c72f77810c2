import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { serverOf } from "./fixture/servers.js";
import type { TaskAnswer } from "./run-tasks.js";
import { FULL, QUICK } from "./scale.js";
import { taskOf } from "./tasks.js";

// Started by run-tasks.ts: runs one task after the other, sends the measurements of each, and ends.
const [runFolder = "", address = "", speed = "", ...ids] = process.argv.slice(2);
// If the parent has ended, there is no use for the answer.
process.on("disconnect", () => process.exit(1));
const scale = speed === "quick" ? QUICK : FULL;
try {
  for (const [index, id] of ids.entries()) {
    const { store, work } = taskOf(id);
    const folder = join(runFolder, String(index));
    mkdirSync(folder);
    const server = (await serverOf(store)?.emptyPlace(address, `task_${index}`)) ?? null;
    const location = { folder, server, connections: scale.connections };
    await send({ id, measurements: await work({ location, scale }) });
  }
  process.exit(0);
} catch (error) {
  process.stderr.write(`\n${error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
}

function send(answer: TaskAnswer): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send?.(answer, undefined, undefined, (error) => (error ? reject(error) : resolve()));
  });
}
