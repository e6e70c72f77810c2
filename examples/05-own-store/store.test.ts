import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeKeyStore } from "@latchkey/conformance";
import type { KeyStore } from "@latchkey/core";
import { afterAll } from "vitest";
import { jsonFileStore } from "./json-file-store.js";

const directory = mkdtempSync(join(tmpdir(), "latchkey-json-"));
const paths = new WeakMap<KeyStore, string>();
let files = 0;

function openAt(path: string): KeyStore {
  const store = jsonFileStore(path);
  paths.set(store, path);
  return store;
}

afterAll(() => rmSync(directory, { recursive: true }));

describeKeyStore("a JSON file", () => openAt(join(directory, `${files++}.json`)), {
  openAgain: (store) => openAt(paths.get(store) as string),
  // Each call writes the whole file.
  shareOfSequences: 0.5,
});
