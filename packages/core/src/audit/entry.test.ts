import { describe, expect, test } from "vitest";
import { contextWith } from "../testing/context.js";
import type { LatchkeyEvent } from "./emitter.js";
import { announce, noteChange, toLog } from "./entry.js";

const RENAMED = {
  type: "key.updated",
  at: 1_000,
  resourceId: "key_1",
  keyId: "key_1",
  identityId: "id_1",
  before: { name: "tides", enabled: true },
  after: { name: "gates", enabled: true },
} as const;

describe("a change", () => {
  test("is written with its id, its workspace, its author and the fields that differ", () => {
    const context = contextWith({ workspaceId: "ws_tides", actor: "root_1" });
    expect(noteChange(context, RENAMED)).toEqual({
      change: {
        id: "evt_1",
        workspaceId: "ws_tides",
        type: "key.updated",
        at: 1_000,
        actor: "root_1",
        resourceId: "key_1",
        keyId: "key_1",
        identityId: "id_1",
        fields: [{ field: "name", before: "tides", after: "gates" }],
      },
      ifCreated: false,
    });
  });

  test("concerns no key and no identity, and has nothing before and after, unless told so", () => {
    const note = { type: "workspace.enabled", at: 1, resourceId: "ws_default" } as const;
    expect(noteChange(contextWith(), note).change).toMatchObject({
      actor: null,
      keyId: null,
      identityId: null,
      fields: [],
    });
  });

  test("has an id of its own each time", () => {
    const context = contextWith();
    const ids = [RENAMED, RENAMED].map((note) => noteChange(context, note).change.id);
    expect(new Set(ids).size).toBe(2);
  });
});

describe("the log", () => {
  const changes = [noteChange(contextWith(), RENAMED)];

  test("gets all of the changes where it is kept, and nothing where it is off", () => {
    expect(toLog({ keepsAuditLog: true }, changes)).toEqual(changes);
    expect(toLog({ keepsAuditLog: false }, changes)).toEqual([]);
  });
});

describe("a listener", () => {
  const context = contextWith({ actor: "root_1" });
  const renamed = noteChange(context, RENAMED);
  const role = { type: "role.created", at: 1_000, resourceId: "role_1", ifCreated: true } as const;
  const onDemand = noteChange(context, role);

  function toldOf(created?: readonly string[]) {
    const heard: LatchkeyEvent[] = [];
    announce({ onEvent: (event) => heard.push(event) }, [onDemand, renamed], created);
    return heard;
  }

  test("hears of changes in their order, fields without a value being absent", () => {
    expect(toldOf(["role_1"])).toEqual([
      {
        id: onDemand.change.id,
        type: "role.created",
        workspaceId: "ws_default",
        at: 1_000,
        actor: "root_1",
        resourceId: "role_1",
        changes: [],
      },
      {
        id: renamed.change.id,
        type: "key.updated",
        workspaceId: "ws_default",
        at: 1_000,
        actor: "root_1",
        resourceId: "key_1",
        keyId: "key_1",
        identityId: "id_1",
        changes: [{ field: "name", before: "tides", after: "gates" }],
      },
    ]);
  });

  test("hears of what is made on demand only where it was made", () => {
    expect(toldOf(["role_2"]).map(({ type }) => type)).toEqual(["key.updated"]);
    expect(toldOf().map(({ type }) => type)).toEqual(["key.updated"]);
  });

  test("that throws does not keep the next change from being told", () => {
    const heard: string[] = [];
    const onEvent = (event: LatchkeyEvent) => {
      heard.push(event.type);
      throw new Error("listener");
    };
    announce({ onEvent }, [onDemand, renamed], ["role_1"]);
    expect(heard).toEqual(["role.created", "key.updated"]);
  });

  test("need not be there", () => {
    expect(() => announce({ onEvent: null }, [renamed])).not.toThrow();
  });
});
