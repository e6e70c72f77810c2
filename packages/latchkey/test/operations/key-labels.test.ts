import { KEY_LABELS, type KeyLabel, keySettings } from "@latchkey/core";
import { exportHeader, exportKeys, exportText, importKeys, openSource } from "@latchkey/import";
import { expect, test } from "vitest";
import { keyCells } from "../../src/command-line/key-cells.js";
import { describeOnMemory } from "../test-context.js";

async function* textOf(text: string): AsyncIterable<string> {
  yield text;
}

const labels = Object.keys(KEY_LABELS) as KeyLabel[];

describeOnMemory("a label of a key", (open) => {
  test.each(labels)(
    "%s can be set, shown, set again, changed and cleared, and the audit log records it",
    async (label) => {
      const { latchkey } = open();
      const { apiId } = await latchkey.createApi({ name: "tides" });
      const { keyId } = await latchkey.createKey({ apiId, [label]: "north" });
      const view = await latchkey.getKey({ keyId });
      expect(view).toHaveProperty(label, "north");
      expect(keySettings(view)).toHaveProperty(label, "north");
      expect(keyCells({ ...view, state: "enabled" })).toContainEqual([label, "north"]);
      await latchkey.updateKey({ keyId, [label]: "south" });
      expect((await latchkey.listKeys({ apiId })).keys).toMatchObject([{ [label]: "south" }]);
      await latchkey.updateKey({ keyId, [label]: null });
      expect(await latchkey.getKey({ keyId })).not.toHaveProperty(label);
      const { events } = await latchkey.listAuditEvents({ keyId });
      const said = events.map(({ changes }) => changes.find(({ field }) => field === label));
      expect(said).toEqual([
        { field: label, before: "south" },
        { field: label, before: "north", after: "south" },
        { field: label, after: "north" },
      ]);
    },
  );

  test.each(labels)(
    "%s has a maximum length, and one character more is refused by name",
    async (label) => {
      const { latchkey } = open();
      const { apiId } = await latchkey.createApi({ name: "tides" });
      const [, max] = KEY_LABELS[label].length;
      await latchkey.createKey({ apiId, [label]: "x".repeat(max) });
      await expect(
        latchkey.createKey({ apiId, [label]: "x".repeat(max + 1) }),
      ).rejects.toMatchObject({
        issues: [{ path: label }],
      });
    },
  );

  test.each(labels)("%s survives an export and an import as CSV", async (label) => {
    const { latchkey } = open();
    const tides = await latchkey.createApi({ name: "tides" });
    await latchkey.createKey({ apiId: tides.apiId, [label]: "north, by east" });
    let text = exportHeader("csv");
    for await (const { keys } of exportKeys({ from: latchkey })) text += exportText("csv", keys);
    const target = open().latchkey;
    const { apiId } = await target.createApi({ name: "tides" });
    const from = openSource("csv", textOf(text));
    for await (const report of importKeys({ from, into: target, apiId }))
      expect(report).toMatchObject({ written: 1, notes: [] });
    const { keys } = await target.listKeys({ apiId });
    expect(keys).toMatchObject([{ [label]: "north, by east" }]);
  });
});
