import { describe, expect, test } from "vitest";
import type { Measurement } from "../measure/measurement.js";
import { chartsOf } from "./charts.js";
import { logAxis } from "./scale-axis.js";

function measurement(id: string, sides: Record<string, readonly number[]>): Measurement {
  return {
    id,
    title: id,
    unit: "µs",
    sides: Object.entries(sides).map(([name, samples]) => ({ name, samples })),
  };
}

describe("a logarithmic axis", () => {
  test("gives each factor of ten the same space", () => {
    const axis = logAxis([1, 100], 0, 200);
    expect([1, 10, 100].map((value) => Math.round(axis.place(value)))).toEqual([0, 100, 200]);
  });

  test("begins and ends at round numbers around the values", () => {
    expect(logAxis([3, 70], 0, 100).ticks).toEqual([2, 5, 10, 20, 50, 100]);
  });

  test("shows only the powers of ten if there are many ticks", () => {
    expect(logAxis([1, 10_000], 0, 100).ticks).toEqual([1, 10, 100, 1_000, 10_000]);
  });

  test("has a place for a single value", () => {
    expect(Number.isFinite(logAxis([10], 0, 100).place(10))).toBe(true);
  });
});

describe("charts", () => {
  const guarded = measurement("verify/sqlite/uses/1", { limit: [10], latchkey: [12] });

  test("are drawn only for work that was measured", () => {
    expect(chartsOf([]).map(({ file }) => file)).toEqual([]);
    expect(chartsOf([guarded]).map(({ file }) => file)).toEqual(["guarded.svg", "questions.svg"]);
  });

  test("show each measured side with its ratio to the limit, and no bar for an absent one", () => {
    const [chart] = chartsOf([guarded]);
    expect(chart?.svg).toContain(">1.20<");
    // One bar, and three squares of the legend.
    expect(chart?.svg.match(/<rect /g)).toHaveLength(4);
  });

  test("draw bars faster than the limit to its left, and slower ones to its right", () => {
    const bars = [6, 24].map((ours) => {
      const faster = measurement("verify/redis/uses/1", { limit: [12], latchkey: [ours] });
      const [chart] = chartsOf([faster]);
      const mark = Number(/class="mark" x1="([\d.]+)"/.exec(chart?.svg ?? "")?.[1]);
      // The last rectangle: the legend comes first.
      const [, x, width] =
        [
          ...(chart?.svg ?? "").matchAll(
            /<rect class="s0" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"/g,
          ),
        ].at(-1) ?? [];
      return { from: Number(x) - mark, to: Number(x) + Number(width) - mark };
    });
    expect(bars[0]?.from).toBeLessThan(0);
    expect(bars[0]?.to).toBeCloseTo(0, 0);
    expect(bars[1]?.from).toBeCloseTo(0, 0);
    expect(bars[1]?.to).toBeGreaterThan(0);
  });

  test("of leases have a bar for each side of each store but the memory store", () => {
    const leases = (store: string) =>
      measurement(`leases/${store}/one/1`, { memory: [4], "not leased": [100], leased: [6] });
    const [chart] = chartsOf([leases("redis"), leases("memory")]);
    expect(chart?.file).toBe("leases.svg");
    // Two bars, and four squares of the legend.
    expect(chart?.svg.match(/<rect /g)).toHaveLength(6);
    expect(chart?.svg).toContain(">1.50<");
  });

  test("can be read on a light and on a dark background", () => {
    const [chart] = chartsOf([guarded]);
    expect(chart?.svg).toContain("@media (prefers-color-scheme:dark)");
  });

  test("of growth have a point for each size", () => {
    const growth = measurement("growth/redis/verify", { "1,000 keys": [5], "10,000 keys": [6] });
    const [chart] = chartsOf([growth]);
    expect(chart?.file).toBe("growth.svg");
    expect(chart?.svg.match(/<circle /g)).toHaveLength(2);
    expect(chart?.svg).toContain(">1,000<");
  });

  test("of identities and their keys are separate, and each panel has its own numbers", () => {
    const identities = measurement("owned/redis/identities", { "1,000 keys": [5] });
    const owned = measurement("owned/redis/owned", { "100 keys": [5] });
    const [chart, ...others] = chartsOf([identities, owned]);
    expect([chart?.file, others.length]).toEqual(["owned.svg", 0]);
    expect(chart?.svg.match(/>1,000</g)).toHaveLength(1);
    expect(chart?.svg.match(/>100</g)).toHaveLength(1);
  });

  test("are well-formed: every text is escaped", () => {
    for (const { svg } of chartsOf([guarded])) {
      expect(svg).not.toMatch(/&(?!amp;|lt;|gt;)/);
      expect(svg.match(/<text/g)).toHaveLength(svg.match(/<\/text>/g)?.length ?? -1);
    }
  });
});
