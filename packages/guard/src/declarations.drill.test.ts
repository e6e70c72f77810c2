import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { compile, install } from "./testing/user-project.js";

const ENTRIES = ["elysia", "express", "fastify", "fetch", "hono", "koa", "nest", "node", "trpc"];

/** A user's module, which exports guards and what they consist of. */
const moduleOf = (entry: string) => `
import { createGuard } from "@latchkey/guard/${entry}";
import { createLatchkey, memoryStore } from "latchkey";

export const latchkey = createLatchkey({ store: memoryStore(), permissions: ["tiles.read"] });
export const guard = createGuard(latchkey);
${
  entry === "node" || entry === "fetch"
    ? 'export const listener = guard({ permissions: "tiles.read" }, () => new Response());'
    : `
export const plain = guard({ permissions: "tiles.read" });
export const optional = guard({ optional: true });
export const reserving = guard({ reserve: 2 });`
}
`;

test("a module that exports guards can have declarations, through the names that the entry exports", () => {
  const folder = install();
  for (const entry of ENTRIES) writeFileSync(join(folder, `${entry}.mts`), moduleOf(entry));
  const names = ENTRIES.map((entry) => `${entry}.mts`);
  const { stdout, status } = compile(folder, "--declaration", ...names);
  expect([stdout, status]).toEqual(["", 0]);
  for (const entry of ENTRIES) {
    const declarations = readFileSync(join(folder, `${entry}.d.mts`), "utf8");
    const named = declarations.matchAll(/import\("(@latchkey\/[^"]+)"\)/g);
    expect([...new Set([...named].map(([, name]) => name))], entry).toEqual([
      `@latchkey/guard/${entry}`,
    ]);
  }
});
