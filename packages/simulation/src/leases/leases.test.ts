import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { BEYOND, FAULTS, type Fault } from "./faults.js";
import { search } from "./search.js";

/** `LATCHKEY_FUZZ_RUNS=10` runs ten times as many. */
const SCHEDULES = 200 * Number(process.env.LATCHKEY_FUZZ_RUNS ?? "1");
const SEED = 1;

/** The rows of the table in docs/proof.md: a fault, and the first seed whose schedule finds it. */
const page = readFileSync(new URL("../../../../docs/proof.md", import.meta.url), "utf8");
const found = new Map(
  [...page.matchAll(/^\| `([a-z-]+)` \| ([^|]+) \| ([\d,]+) \| (E\d) \|$/gm)].map(
    ([, name = "", mistake, after = "", law]) => {
      const seed = SEED + Number(after.replaceAll(",", "")) - 1;
      return [name, { mistake, seed, law }] as const;
    },
  ),
);
const rows = Object.entries({ ...FAULTS, ...BEYOND }).map(([name, mistake]) => ({
  name: name as Fault,
  mistake,
  seed: found.get(name)?.seed ?? 0,
  law: found.get(name)?.law,
}));

describe("E1 to E4: the model of leases", () => {
  test(`breaks no law (${SCHEDULES} schedules from seed ${SEED})`, () => {
    const { violation, schedules, decisions } = search(null, SEED, SCHEDULES);
    expect(violation).toBeNull();
    expect(schedules).toBe(SCHEDULES);
    expect(decisions).toBeGreaterThan(SCHEDULES);
  });

  test.each(rows)(
    "with $name breaks a law, as docs/proof.md says (seed $seed)",
    ({ name, mistake, seed, law }) => {
      expect(found.get(name)?.mistake).toBe(mistake);
      expect(search(name, seed, 1).violation?.text.slice(0, 2)).toBe(law);
      expect(search(null, seed, 1).violation).toBeNull();
    },
  );
});
