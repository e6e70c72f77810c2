import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const textOf = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

/** Comes with the machines that the workflow runs on, as Google Chrome. */
const THERE = "chromium";

test("the workflow installs what tests are skipped without, which setup.mjs installs as root", () => {
  const installed = textOf(".ci/setup.mjs").matchAll(/"--no-install-recommends", "([a-z-]+)"\]/g);
  const programs = [...installed].map(([, name]) => name).filter((name) => name !== THERE);
  expect(programs).toContain("redis-server");
  const [, line = ""] = /apt-get install -y -q (.*)/.exec(textOf(".github/workflows/ci.yml")) ?? [];
  expect(line.split(" ").sort()).toEqual(programs.sort());
});
