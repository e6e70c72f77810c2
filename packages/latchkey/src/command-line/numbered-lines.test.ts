import { expect, test } from "vitest";
import { numberedLines } from "./numbered-lines.js";

async function* inTurn(pieces: Iterable<string>): AsyncGenerator<string> {
  yield* pieces;
}

async function linesOf(pieces: readonly string[]) {
  const found: { readonly text: string; readonly number: number }[] = [];
  for await (const line of numberedLines(inTurn(pieces))) found.push(line);
  return found;
}

test("lines are numbered, however the text is cut", async () => {
  const lines = [
    { text: "one", number: 1 },
    { text: "", number: 2 },
    { text: "three", number: 3 },
  ];
  expect(await linesOf(["one\n\nthree"])).toEqual(lines);
  expect(await linesOf(["o", "ne", "\n", "\nth", "", "ree"])).toEqual(lines);
});

test("a line longer than a string can be comes in parts, and each secret is whole in one of them", async () => {
  const piece = "x".repeat(65_536);
  const secret = "s".repeat(512);
  // Longer than 2^29 characters, the longest string.
  const pieces = function* () {
    for (let at = 0; at < 8_200; at += 1) {
      yield piece;
      // Around the place where the first part ends.
      if (at === 3) yield* [secret.slice(0, 100), secret.slice(100)];
    }
    yield "\nnext";
  };
  let hasSecret = false;
  let longest = 0;
  let last: unknown;
  for await (const line of numberedLines(inTurn(pieces()))) {
    hasSecret ||= line.text.includes(secret);
    longest = Math.max(longest, line.text.length);
    last = line;
  }
  expect(hasSecret).toBe(true);
  expect(longest).toBeLessThan(1_000_000);
  expect(last).toEqual({ text: "next", number: 2 });
});
