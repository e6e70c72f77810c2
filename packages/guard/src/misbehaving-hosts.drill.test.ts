import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";

interface Outcome {
  readonly entry: string;
  readonly name: string;
  readonly status: number | null;
  readonly isIn: boolean;
}

let exitCode: number | null = null;
let stderr = "";
let outcomes: readonly Outcome[] = [];
let last: { readonly cases?: number; readonly entries?: number } = {};

/** Runs every host on the compiled packages, in a process that ends on an unhandled rejection. */
beforeAll(async () => {
  const program = fileURLToPath(new URL("./testing/misbehaving-hosts.mjs", import.meta.url));
  const child = spawn(process.execPath, ["--unhandled-rejections=strict", program], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  exitCode = await new Promise((resolve) => child.on("close", resolve));
  const lines = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Outcome);
  last = lines.at(-1) as typeof last;
  outcomes = lines.slice(0, -1);
});

const named = (pattern: RegExp) => outcomes.filter(({ name }) => pattern.test(name));

test("the process survives every misbehaviour of a host, on every entry", () => {
  expect(stderr.slice(0, 2_000)).not.toMatch(/Unhandled|Uncaught/);
  expect(exitCode).toBe(0);
  expect(last.entries).toBe(11);
  expect(last.cases).toBeGreaterThan(80);
  const overNode = named(/^the host|rawHeaders/).length;
  expect(outcomes).toHaveLength((last.cases ?? 0) * 11 - (overNode / 8) * 3);
});

test("a host's function that fails is a 500, and one that never ends is a 503", () => {
  for (const outcome of named(
    /^(getKey|getAddress|cost|a cost).* (throws|throws nothing|rejects)$/,
  ))
    expect(outcome).toMatchObject({ status: 500, isIn: false });
  for (const outcome of named(/^(getKey|getAddress|cost|onRefusal).*(never ends|rejects late)$/))
    if (!outcome.name.startsWith("onRefusal and"))
      expect(outcome).toMatchObject({ status: 503, isIn: false });
  for (const outcome of named(/^onError|^onRefusal (throws|rejects|answers a thenable)/))
    if (!outcome.name.includes("late")) expect(outcome).toMatchObject({ status: 500, isIn: false });
  for (const outcome of named(/^the store never answers/)) expect(outcome.status).toBe(503);
});

test("a hook's result that cannot be sent is a 500 or no response, and nobody gets in", () => {
  for (const { name, entry, status, isIn } of named(/^onRefusal answers/)) {
    // tRPC turns a status without a code into FORBIDDEN.
    const bare = entry === "tRPC" ? 403 : 204;
    if (/without a body/.test(name)) expect([name, entry, status]).toEqual([name, entry, bare]);
    else expect([name, entry, [401, 500, null].includes(status)]).toEqual([name, entry, true]);
    expect(isIn).toBe(false);
  }
});

test("a response that the host has already sent is left alone", () => {
  for (const outcome of named(/^the host answers first/))
    expect(outcome).toMatchObject({ status: 200, isIn: false });
  for (const outcome of named(/^the host begins/))
    expect(outcome).toMatchObject({ status: 202, isIn: false });
  for (const outcome of named(/rawHeaders/)) expect(outcome).toMatchObject({ isIn: false });
});

test("a failure to end a reservation does not change the response, which was already sent", () => {
  const reserved = named(/^a reservation/);
  expect(reserved.length).toBeGreaterThan(100);
  for (const { entry, name, status } of reserved) {
    const isBroken = name.includes("handler throws");
    expect([entry, name, status]).toEqual([entry, name, isBroken ? 500 : 200]);
  }
});

test("nobody gets in without a valid key", () => {
  const isGood = /^(the client has left|a reservation|getAddress.* answers (a symbol|an object)$)/;
  for (const { entry, name, isIn } of outcomes)
    if (isIn) expect([entry, name]).toEqual([entry, expect.stringMatching(isGood)]);
});
