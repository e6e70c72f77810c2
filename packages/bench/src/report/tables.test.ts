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

test("a goal that was not measured is in the table, and says so", () => {
  const goals = judgeGoals([durable]).filter(({ goal }) => ["P6", "P7"].includes(goal.id));
  const table = tablesOf([], goals).find(({ title }) => title === "Goals");
  expect(table?.rows.map(([id, , ...figures]) => [id, ...figures])).toEqual([
    ["P6", "≥ 10", "10.0", "met"],
    ["P7", "≤ 1.15", "not measured", ""],
  ]);
});

test("each side of some work is shown with its quarters", () => {
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
