import { expect, test, vi } from "vitest";
import { CommitQueue } from "./commit-queue.js";
import { errorOf } from "./testing/errors.js";

/** Only against hanging: a busy machine may take longer than the default of one second. */
const PATIENTLY = { timeout: 60_000 };

const PATIENT_MS = 60_000;

/** Changes that end on request, and those that have begun so far. */
function aQueue() {
  const queue = new CommitQueue();
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const add = (name: string, workspaceId = "ws_1", timeoutMs = PATIENT_MS) =>
    queue.add(workspaceId, performance.now() + timeoutMs, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      return name;
    });
  return { queue, begun, add, end: (name: string) => ends.get(name)?.() };
}

test("three changes of a workspace are in flight at once, the others begin in order of arrival", async () => {
  const { begun, add, end } = aQueue();
  const changes = ["a", "b", "c", "d", "e"].map((name) => add(name));
  expect(begun).toEqual(["a", "b", "c"]);
  end("b");
  expect(await changes[1]).toBe("b");
  await vi.waitUntil(() => begun.length > 3, PATIENTLY);
  expect(begun).toEqual(["a", "b", "c", "d"]);
  end("a");
  expect(await changes[0]).toBe("a");
  await vi.waitUntil(() => begun.length > 4, PATIENTLY);
  expect(begun).toEqual(["a", "b", "c", "d", "e"]);
});

test("changes of another workspace do not wait for them", async () => {
  const { begun, add, end } = aQueue();
  const changes = ["a", "b", "c", "d"].map((name) => add(name));
  void add("other", "ws_2");
  expect(begun).toEqual(["a", "b", "c", "other"]);
  // None may stay behind: it would be rejected a minute later, in the middle of another test.
  for (const name of ["a", "b", "c"]) end(name);
  await vi.waitUntil(() => begun.includes("d"), PATIENTLY);
  end("d");
  await Promise.all(changes);
});

test("a change that fails lets the next begin", async () => {
  const { queue, begun, add } = aQueue();
  void add("a");
  void add("b");
  const failed = queue.add("ws_1", performance.now() + PATIENT_MS, () =>
    Promise.reject(new TypeError("no")),
  );
  void add("c");
  await expect(failed).rejects.toThrow("no");
  expect(begun).toEqual(["a", "b", "c"]);
});

test("a change whose turn comes too late is not sent, and those behind it are", async () => {
  const { begun, add, end } = aQueue();
  const first = add("a");
  void add("b");
  void add("c");
  const late = errorOf(add("late", "ws_1", 0));
  const behind = add("d");
  expect(await late).toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "not-applied" });
  end("a");
  await first;
  await vi.waitUntil(() => begun.includes("d"), PATIENTLY);
  end("d");
  await behind;
  expect(begun).toEqual(["a", "b", "c", "d"]);
});
