import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLatchkey } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { KeyIssuer, mintSecrets } from "../fixture/keys.js";
import { QUESTIONS } from "../questions.js";
import { memoryLimit } from "./limit-memory.js";
import { sqliteLimit } from "./limit-sqlite.js";

const NOW = Date.UTC(2026, 5, 1, 12, 30);
const folder = mkdtempSync(join(tmpdir(), "latchkey-bench-test-"));
const secrets = await mintSecrets(12);

// The hand-written limits call Date.now, as a program would.
beforeAll(() => {
  vi.useFakeTimers({ now: NOW, toFake: ["Date"] });
});

afterAll(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

test.each(QUESTIONS)(
  "$title: the limits on memory and SQLite give the same answers as latchkey",
  async (question) => {
    const latchkey = createLatchkey({ store: memoryStore(), clock: () => NOW });
    const rows = await new KeyIssuer(latchkey, question.keys).issue(secrets);
    const memory = memoryLimit(rows, question);
    const sqlite = sqliteLimit(join(folder, `${question.id}.db`), rows, question);
    // The last two secrets share an identity if the question has one. Each secret is asked about three times.
    const asked = [...secrets.slice(0, 2), ...secrets.slice(-2)].flatMap((secret) => [
      secret,
      secret,
      secret,
    ]);
    for (const [call, secret] of asked.entries()) {
      const requestId = `r${Math.floor(call / 2)}`;
      const ours = await latchkey.verifyKey(question.input(secret, requestId));
      expect(await memory(secret, requestId)).toEqual(ours);
      expect(await sqlite(secret, requestId)).toEqual(ours);
    }
  },
);
