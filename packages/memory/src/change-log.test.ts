import type { ChangeRecord, LoggedChange } from "@latchkey/core";
import { expect, test } from "vitest";
import { ChangeLogs } from "./change-log.js";

function entry(
  number: number,
  fields: Partial<ChangeRecord> = {},
  ifCreated = false,
): LoggedChange {
  const change: ChangeRecord = {
    id: `evt_${number}`,
    workspaceId: "ws_1",
    type: "key.updated",
    at: number,
    actor: null,
    resourceId: "key_1",
    keyId: null,
    identityId: null,
    fields: [{ field: "meta", before: { a: [1] } }],
    ...fields,
  };
  return { change, ifCreated };
}

function written(logs: ChangeLogs, workspaceId = "ws_1"): readonly ChangeRecord[] {
  return logs.list(workspaceId, { kind: "all" }, null, 100).items;
}

test.each([
  "taken",
  "name-taken",
  "external-id-taken",
  "hash-taken",
  "not-found",
  "stale",
  "protected",
])("a write that was answered with %s leaves nothing in the log", (answer) => {
  const logs = new ChangeLogs();
  expect(logs.follow(answer, [entry(1)])).toBe(answer);
  expect(logs.follow({ kind: answer }, [entry(2)])).toEqual({ kind: answer });
  expect(written(logs)).toEqual([]);
});

test.each(["inserted", "updated", "deleted", "rotated"])(
  "a write that was answered with %s leaves its entries",
  (answer) => {
    const logs = new ChangeLogs();
    logs.follow(answer, [entry(1)]);
    logs.follow({ kind: answer }, [entry(2)]);
    expect(written(logs).map(({ id }) => id)).toEqual(["evt_2", "evt_1"]);
  },
);

test("what is read of the log is frozen to the depth, and what was handed in is not", () => {
  const logs = new ChangeLogs();
  const log = [entry(1)];
  logs.follow("updated", log);
  const [change] = written(logs);
  for (const value of [change, change?.fields, change?.fields[0], change?.fields[0]?.before]) {
    expect(Object.isFrozen(value)).toBe(true);
  }
  expect(Object.isFrozen(log[0]?.change)).toBe(false);
});

test("an entry is found in the workspace that it names", () => {
  const logs = new ChangeLogs();
  logs.follow("inserted", [entry(1, { workspaceId: "ws_2" })]);
  expect(written(logs, "ws_2")).toHaveLength(1);
  expect(written(logs)).toEqual([]);
});

test("forgotten entries are found by no filter", () => {
  const logs = new ChangeLogs();
  const concerned = { keyId: "key_1", identityId: "id_1", actor: "root_1" };
  logs.follow("updated", [entry(1, concerned), entry(2, concerned)]);
  expect(logs.delete("ws_1", "evt_2", 10)).toEqual({ deleted: 1, hasMore: false });
  const filters = [
    { kind: "all" },
    { kind: "key", keyId: "key_1" },
    { kind: "identity", identityId: "id_1" },
    { kind: "actor", actor: "root_1" },
  ] as const;
  for (const filter of filters) {
    expect(logs.list("ws_1", filter, null, 10).items.map(({ id }) => id)).toEqual(["evt_2"]);
  }
});
