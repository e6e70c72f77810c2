import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { OPERATIONS as CORE_OPERATIONS } from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { OPERATIONS } from "./operations/table.js";
import { readmeTable } from "./testing/readme-table.js";

const folder = new URL("../", import.meta.url);
const README = new URL("README.md", folder);
const SECTION = /(?<=<!-- operations: [^\n]*-->\n)[\s\S]*?(?=<!-- \/operations -->)/;

/** Operations of the library that HTTP does not serve: they are for the host itself. */
const LIBRARY_ONLY = [
  "authenticateRootKey",
  "createPortalSession",
  "revokePortalSession",
  "openPortalSession",
  "createWorkspace",
  "deleteWorkspace",
  "findApiOfKey",
  "getWorkspace",
  "listWorkspaces",
  "pruneVerifications",
  "reencryptKeys",
  "reportLeaks",
  "setWorkspaceEnabled",
  "updateWorkspace",
];

describe("the table of operations", () => {
  test("serves every operation of the library, except those for the host", () => {
    const served = OPERATIONS.flatMap(({ operation }) => operation ?? []);
    // `apis.listKeys` existed before `keys.listKeys`, which lists the keys of a workspace.
    const names = [...Object.keys(CORE_OPERATIONS), "listKeys"];
    expect([...served, ...LIBRARY_ONLY].sort()).toEqual(names.sort());
  });

  test("names each operation of HTTP after its operation of the library", () => {
    const exceptions = {
      readiness: "isWorkspaceEnabled",
      "migrations.createKeys": "createKeys",
      "keys.settleReservation": "settle",
      "keys.releaseReservation": "release",
      "keys.renewReservation": "renew",
    };
    for (const { name, operation } of OPERATIONS)
      if (operation !== null && !(name in exceptions)) expect(name.split(".")[1]).toBe(operation);
  });

  test("is the README's, word for word: UPDATE_README=1 writes it", () => {
    const table = `\n${readmeTable()}\n\n`;
    const readme = readFileSync(README, "utf8");
    if (process.env.UPDATE_README === "1")
      writeFileSync(
        README,
        readme.replace(SECTION, () => table),
      );
    expect(SECTION.exec(readFileSync(README, "utf8"))?.[0]).toBe(table);
  });
});

test.each(["README.md", "UNKEY-V1.md", "UNKEY-V2.md", "SPEC.md"])(
  "%s has no broken link",
  (name) => {
    const page = readFileSync(new URL(name, folder), "utf8");
    const targets = [...page.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, target = ""]) => target);
    expect(targets.filter((target) => !existsSync(new URL(target, folder)))).toEqual([]);
  },
);

test("the README links to the pages next to it", () => {
  for (const name of ["SPEC.md", "UNKEY-V1.md", "UNKEY-V2.md"])
    expect(readFileSync(README, "utf8")).toContain(`](${name})`);
});
