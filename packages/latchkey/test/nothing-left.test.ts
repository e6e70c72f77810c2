import { interceptStore, type StoreMethod } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { expect, test } from "vitest";
import { makeChangeFixture, WITH_VAULT } from "./change-cases/fixture.js";
import { CHANGE_CASES } from "./changes.js";
import { REPEAT_CASES } from "./repeats/cases.js";
import { openContext } from "./test-context.js";
import { unclosed } from "./wrapped-store.js";

/** If the store loses what it found, the next call, a minute later, finds it again. */
const MADE_AGAIN: ReadonlySet<string> = new Set(["notice"]);

const CASES = [
  ...CHANGE_CASES,
  ...REPEAT_CASES.filter((one) => !CHANGE_CASES.some(({ title }) => title === one.title)),
].filter(({ operation }) => !MADE_AGAIN.has(operation));

/** Store calls after whose answer everything that was written before is durable. */
const WRITES: ReadonlySet<StoreMethod> = new Set<StoreMethod>(["commit", "forget"]);

test.each(CASES)(
  "$title makes durable what it relies on, even if another process has left nothing to do",
  async (one) => {
    const store = memoryStore();
    const context = openContext(() => store, WITH_VAULT);
    const fixture = await makeChangeFixture(context);
    if ("prepare" in one) await one.prepare?.(context, fixture);
    context.advance(1);
    await one.run(context.latchkey, fixture);
    let hasWritten = false;
    const noting = interceptStore(unclosed(store), ({ method }, call) => {
      hasWritten ||= WRITES.has(method);
      return call();
    });
    const hasResolved = await one.run(context.another({ store: noting }), fixture).then(
      () => true,
      () => false,
    );
    expect({ hasResolved, hasWritten }).not.toEqual({ hasResolved: true, hasWritten: false });
  },
);
