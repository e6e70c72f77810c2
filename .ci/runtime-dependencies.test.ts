import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BUNDLED } from "./bundle.mjs";
import { readPackages, root } from "./sources.js";

/**
 * The run-time dependencies of each published package besides packages of this repository, with their ranges. Users install a `peer`
 * dependency themselves, and an `optional` one only if they use it.
 */
const RUNTIME_DEPENDENCIES: Readonly<Record<string, readonly string[]>> = {
  console: [
    "express ^4.18.0 || ^5.0.0 optional",
    "fastify ^5.0.0 optional",
    "hono ^4.0.0 optional",
  ],
  conformance: ["fast-check ^4.10.2", "vitest ^4.1.0 peer"],
  core: [
    "@noble/ciphers ^2.4.0",
    "@noble/hashes ^2.4.0",
    "jose ^6.0.0 optional",
    "nanoid ^5.1.12",
    "zod ^4.6.7",
  ],
  guard: [
    "@nestjs/common ^10.0.0 || ^11.0.0 || ^12.0.0 optional",
    "@trpc/server ^11.0.0 optional",
    "elysia ^1.4.28 optional",
    "express ^4.18.0 || ^5.0.0 optional",
    "fastify ^5.0.0 optional",
    "hono ^4.0.0 optional",
    "koa ^2.15.0 || ^3.0.0 optional",
  ],
  http: ["@hono/node-server ^2.1.8", "hono ^4.13.19"],
  import: [
    "better-sqlite3 ^12.11.0 || ^13.0.0 optional",
    "csv-parse ^7.0.3",
    "csv-stringify ^6.9.0",
    "pg ^8.11.0 optional",
  ],
  latchkey: [
    "better-sqlite3 ^12.11.0 || ^13.0.0 optional",
    "commander ^14.0.3",
    "ioredis ^6.0.0",
    "pg ^8.23.1",
  ],
  memory: [],
  otel: ["@opentelemetry/api ^1.9.0 peer"],
  portal: ["express ^4.18.0 || ^5.0.0 optional", "fastify ^5.0.0 optional", "hono ^4.0.0 optional"],
  postgres: ["pg ^8.11.0 peer"],
  redis: ["ioredis ^5.9.0 || ^6.0.0 peer"],
  sqlite: ["better-sqlite3 ^12.11.0 || ^13.0.0 optional"],
  transfer: ["age-encryption ^0.3.0"],
  webhooks: ["standardwebhooks ^1.1.1"],
};

/** Dependencies that are bundled into packages, and so ship with them. */
const BUNDLED_DEPENDENCIES = ["zod", "ipaddr.js", "sorted-btree"];

const REASON_GOES =
  "a runtime dependency is code that every user trusts: argue it in a page of packages/core/decisions, then change the table in .ci/runtime-dependencies.test.ts";

const settings = readFileSync(join(root, "pnpm-workspace.yaml"), "utf8");
const published = readPackages().filter(({ manifest }) => manifest.private !== true);

/** The range that a package is published with. */
function rangeOf(name: string, range: string): string {
  if (range !== "catalog:") return range;
  const quoted = name.startsWith("@") ? `"${name}"` : name;
  const [, found] =
    new RegExp(`^  ${quoted.replaceAll(".", "\\.")}: (.+)$`, "m").exec(settings) ?? [];
  if (found === undefined) throw new Error(`${name} is not in the catalog of pnpm-workspace.yaml`);
  return found;
}

function runtimeDependencies({ manifest }: (typeof published)[number]): string[] {
  const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = manifest;
  const kinds = [
    [dependencies, () => ""],
    [manifest.optionalDependencies ?? {}, () => " optional"],
    [
      peerDependencies,
      (name: string) => (peerDependenciesMeta[name]?.optional === true ? " optional" : " peer"),
    ],
  ] as const;
  return kinds
    .flatMap(([ranges, kind]) =>
      Object.entries(ranges)
        .filter(([, range]) => !range.startsWith("workspace:"))
        .map(([name, range]) => `${name} ${rangeOf(name, range)}${kind(name)}`),
    )
    .sort();
}

describe("run-time dependencies", () => {
  test.each(published)("of $directory are those that were argued, in these ranges", (pkg) => {
    expect(runtimeDependencies(pkg), REASON_GOES).toEqual(RUNTIME_DEPENDENCIES[pkg.directory]);
  });

  test("that are bundled are those that were argued", () => {
    expect(BUNDLED, REASON_GOES).toEqual(BUNDLED_DEPENDENCIES);
  });
});

describe("install scripts", () => {
  const listed = (name: string) => {
    const [, block = ""] = new RegExp(`^${name}:\\n((?:  - .+\\n)+)`, "m").exec(settings) ?? [];
    return [...block.matchAll(/- "?([^"\n]+)"?/g)].map(([, entry]) => entry);
  };

  test("run for better-sqlite3 alone, and one of any other package fails the installation", () => {
    expect(listed("onlyBuiltDependencies")).toEqual(["better-sqlite3"]);
    expect(listed("ignoredBuiltDependencies")).toEqual(["@scarf/scarf", "esbuild"]);
    expect(settings).toMatch(/^strictDepBuilds: true$/m);
    expect(settings).not.toContain("dangerouslyAllowAllBuilds");
  });

  test.each(published)("do not exist in $directory", ({ manifest }) => {
    const own = ["preinstall", "install", "postinstall", "prepare", "prepublish"];
    expect(own.filter((name) => name in (manifest.scripts ?? {}))).toEqual([]);
  });
});

test("the lock file has a hash for each package, and no package from outside the registry", () => {
  const lock = readFileSync(join(root, "pnpm-lock.yaml"), "utf8");
  const [, packages = ""] = /^packages:\n([\s\S]*?)^snapshots:/m.exec(lock) ?? [];
  const entries = packages.split(/\n\n/).filter((entry) => entry.trim() !== "");
  expect(entries.length).toBeGreaterThan(300);
  const unfit = entries.filter(
    (entry) => !/resolution: \{integrity: sha512-[A-Za-z0-9+/=]+\}/.test(entry),
  );
  expect(unfit).toEqual([]);
});
