import { yieldToEventLoop } from "../../lib/promises.js";
import type { PageResult } from "../../store/key-store.js";
import type { OperationContext } from "../context.js";
import { readList } from "../read.js";

/** Entries read at once. */
const READ_AT_ONCE = 200;

/** The number of the latest entry of the audit log, even if that was deleted, and how many entries there are. */
export async function endOfNumbers(
  context: OperationContext,
): Promise<{ readonly last: number; readonly size: number }> {
  const from = { version: Number.MAX_SAFE_INTEGER, id: "" };
  const { last = 1, size } = await readList(context, { kind: "auditEntry", limit: 1, from });
  return { last, size };
}

/** The entries that were committed after the one with this number, in the order of their commits. */
export async function* logSince(
  context: OperationContext,
  number: number,
): AsyncGenerator<PageResult, void, undefined> {
  for (let version = number + 1; ; ) {
    const from = { version, id: "" };
    const page = await readList(context, { kind: "auditEntry", limit: READ_AT_ONCE, from });
    yield page;
    if (!page.hasMore) return;
    await yieldToEventLoop();
    // A version that cannot be read is 0.
    version = Math.max(version, ...page.found.map(({ record }) => record.version)) + 1;
  }
}
