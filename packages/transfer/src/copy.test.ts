import { memoryStore } from "@latchkey/memory";
import { expect, test } from "vitest";
import { copy } from "./copy.js";
import { assertArrived, fill } from "./testing/fixture.js";

test("everything arrives", async () => {
  const [from, to] = [memoryStore(), memoryStore()];
  const filled = await fill(from);
  const report = await copy(from, to);
  console.log(report);
  await assertArrived(to, filled);
});
test("live", async () => {
  const [from, to] = [memoryStore(), memoryStore()];
  const filled = await fill(from);
  const report = await copy(from, to, { live: true });
  console.log(report);
  await assertArrived(to, filled);
});
