import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { REPOSITORY } from "../stage.js";
import { lifeOfAKey } from "./life-of-a-key.js";
import { orderOfChecks } from "./order-of-checks.js";
import { refills } from "./refills.js";
import { reservation } from "./reservation.js";

test.each([
  ["life-of-a-key", lifeOfAKey],
  ["order-of-checks", orderOfChecks],
  ["refills", refills],
  ["reservation", reservation],
])("the picture %s is up to date (UPDATE_PICTURES=1 writes it)", async (name, draw) => {
  const file = join(REPOSITORY, "docs", "pictures", `${name}.svg`);
  const drawn = await draw();
  if (process.env.UPDATE_PICTURES === "1") writeFileSync(file, drawn);
  expect(readFileSync(file, "utf8")).toBe(drawn);
});
