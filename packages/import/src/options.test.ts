import { memoryStore } from "@latchkey/memory";
import { expect, test } from "vitest";
import { exportText } from "./export-format.js";
import { exportKeys } from "./export-keys.js";
import { importKeys } from "./import-keys.js";
import { openSource } from "./open-source.js";
import { inPieces, openLatchkey } from "./testing/imports.js";

test("an import with a wrong option is refused, and writes nothing", async () => {
  const into = openLatchkey();
  for (const [options, message] of [
    [{ dryrun: true }, '"dryrun" is not an option of importKeys'],
    [{ dryRun: "yes" }, '"dryRun" must be true or false'],
    [{ apiname: "tides" }, '"apiname" is not an option of importKeys'],
  ] as const) {
    const from = openSource("jsonl", inPieces('{"plaintext":"an old secret","api":"tides"}\n'));
    const work = importKeys({ from, into, ...options } as never);
    await expect(work.next(), message).rejects.toThrow(new TypeError(message));
  }
  expect((await into.listApis()).total).toBe(0);
});

test("a store in place of a latchkey is refused by name", async () => {
  const from = openSource("jsonl", inPieces('{"plaintext":"an old secret","api":"tides"}\n'));
  await expect(importKeys({ from, into: memoryStore() } as never).next()).rejects.toThrow(
    new TypeError('"into" must be the object that createLatchkey returns'),
  );
  await expect(exportKeys({ from: memoryStore() } as never).next()).rejects.toThrow(
    new TypeError('"from" must be the object that createLatchkey returns'),
  );
});

test("an unknown option of a source or an export is refused", async () => {
  expect(() => openSource("csv", inPieces(""), { delimeter: ";" } as never)).toThrow(
    '"delimeter" is not an option of openSource',
  );
  expect(() => exportText("csv", [], { escapeFormula: true } as never)).toThrow(
    '"escapeFormula" is not an option of exportText',
  );
  await expect(exportKeys({ from: openLatchkey(), api: "a" } as never).next()).rejects.toThrow(
    '"api" is not an option of exportKeys',
  );
});
