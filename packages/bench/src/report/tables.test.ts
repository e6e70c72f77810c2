import { expect, test } from "vitest";
import { judgeGoals } from "../goals.js";
import type { Measurement } from "../measure/measurement.js";
import { tablesOf } from "./tables.js";

const durable: Measurement = {
  id: "durable/sqlite",
  title: "every charge on disk",
  unit: "µs",
  sides: [
    { name: "limit", samples: [10, 20, 30] },
    { name: "latchkey", samples: [1, 2, 3] },
  ],
};

test("the table shows a goal that was not measured as such", () => {
  const goals = judgeGoals([durable]).filter(({ goal }) => ["P6", "P7"].includes(goal.id));
  const table = tablesOf([], goals).find(({ title }) => title === "Goals");
  expect(table?.rows.map(([id, , ...figures]) => [id, ...figures])).toEqual([
    ["P6", "≥ 10", "10.0", "met"],
    ["P7", "≤ 1.15", "not measured", ""],
  ]);
});

test("each side of some work is shown with its quartiles", () => {
  const table = tablesOf([durable], []).find(({ title }) => title === "Other states");
  expect(table?.rows).toEqual([
    [
      "SQLite: every charge on disk",
      "limit 20.0 (15.0–25.0) µs",
      "latchkey 2.00 (1.50–2.50) µs",
      "0.10",
    ],
  ]);
});

test("leases are compared with the memory store, and several processes with one", () => {
  const measured = (count: number, leased: number): Measurement => ({
    id: `leases/redis/one/${count}`,
    title: `one key, ${count}`,
    unit: "µs",
    sides: [
      { name: "memory", samples: [4] },
      { name: "not leased", samples: [100] },
      { name: "leased", samples: [leased] },
    ],
  });
  const processes = { ...measured(1, 6), id: "leases/redis/one/processes" };
  const table = tablesOf([measured(1, 6), measured(2, 3), processes], []).find(({ title }) =>
    title.startsWith("Leases"),
  );
  expect(table?.rows).toEqual([
    [
      "Redis: one key, 1",
      "4.00 (4.00–4.00)",
      "100 (100–100)",
      "6.00 (6.00–6.00)",
      "25.0",
      "1.50",
      "–",
    ],
    [
      "Redis: one key, 2",
      "4.00 (4.00–4.00)",
      "100 (100–100)",
      "3.00 (3.00–3.00)",
      "25.0",
      "0.75",
      "2.00",
    ],
  ]);
});
