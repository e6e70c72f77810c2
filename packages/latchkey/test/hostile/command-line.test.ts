import { LatchkeyError } from "@latchkey/core";
import fc from "fast-check";
import { expect } from "vitest";
import { openStore } from "../../src/index.js";
import { runInProcess } from "../../src/testing/run-in-process.js";
import { fuzz } from "./fuzz.js";
import { hostileText } from "./values.js";

const WORDS =
  "apis,keys,identities,roles,permissions,verify,explain,limits,usage,audit,root-key,workspace,doctor,completion,scanner-rules,export,list,create,get,update,delete,revoke,rotate,enable,disable,bash,--help,--version,--name,--json,--limit,--cursor,--api,--expires,--remaining,--permissions,--meta,--workspace,--schema,--key,--from,--to,-h,--,-".split(
    ",",
  );

/** Commands that wait for a signal, or write outside of their store. */
const isSafe = (word: string) =>
  !["serve", "backup", "restore", "copy", "import", "export", "migrate"].includes(word);

fuzz("any arguments end the program with 0, 1 or 2 and at most a few lines, without a stack", {
  corpus: "command-line",
  runs: 140,
  input: fc.record({
    words: fc.array(
      fc.oneof(
        { weight: 3, arbitrary: fc.constantFrom(...WORDS.filter(isSafe)) },
        hostileText.filter(isSafe),
      ),
      { maxLength: 7 },
    ),
    store: fc.option(
      fc.oneof(
        { weight: 3, arbitrary: fc.constant("sqlite::memory:") },
        hostileText.filter((text) => !text.startsWith("sqlite")),
      ),
    ),
    input: hostileText,
  }),
  feed: async ({ words, store, input }) => {
    const args = store === null ? words : [...words, "--store", store];
    const readInput = async () => input;
    const { exitCode, stderr } = await runInProcess(args, {}, { readInput });
    expect([0, 1, 2], stderr).toContain(exitCode);
    expect(stderr).not.toMatch(/\n\s+at |TypeError|undefined|\[object/);
    if (exitCode !== 0) expect(stderr.trimEnd().split("\n").length, stderr).toBeLessThanOrEqual(2);
  },
});

const SCHEMES = [
  "memory:",
  "sqlite:",
  "redis://",
  "rediss://",
  "redis+cluster://",
  "postgres://",
  "postgresql://",
  "mongodb://",
  "REDIS://",
  "",
];
const HOSTS = [
  "127.0.0.1:1",
  "127.0.0.1:1/0",
  "[::1]:1",
  "a:p@127.0.0.1:1",
  "127.0.0.1:99999",
  "a:hunter2@:1",
  "127.0.0.1:1,127.0.0.1:1",
  "@/x?host=/nowhere",
  "%",
  "127.0.0.1:1/%ff",
  "u:%ff@127.0.0.1:1",
];

fuzz("any URL opens a store, or is refused without being repeated", {
  corpus: "store-urls",
  runs: 800,
  input: fc.tuple(
    fc.constantFrom(...SCHEMES),
    fc.oneof(fc.constantFrom(...HOSTS), hostileText),
    hostileText,
  ),
  feed: async ([scheme, host, rest]) => {
    // A path would name a file.
    const url =
      scheme === "sqlite:"
        ? `sqlite:${rest.replace(/[^?#:\0]/g, "") || ":memory:"}`
        : `${scheme}${host}${rest}`;
    try {
      const store = openStore(url, {
        redis: { connectTimeoutMs: 1, commandTimeoutMs: 1 },
        postgres: { timeoutMs: 1 },
      });
      await store.close();
    } catch (error) {
      const { message } = error as Error;
      expect(error instanceof TypeError || error instanceof LatchkeyError, message).toBe(true);
      expect(message).toMatch(/^"?(url|source)"? must|must /);
      expect(message).not.toContain("hunter2");
    }
  },
});
