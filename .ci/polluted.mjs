// @ts-nocheck: what it does to Object.prototype, no compiler knows.
// Decisions under a polluted prototype: what one bad merge in any package of a program does to all objects.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const packages = fileURLToPath(new URL("../packages", import.meta.url));

/** What careless programs leave there. */
const VALUES = [true, "VALID", 0, {}];

/** What stands behind a dot, in a pattern or as the name of a member: what objects are asked for. */
const READ = /\.([A-Za-z_$][\w$]*)|[{,]\s*([A-Za-z_$][\w$]*)\s*(?=[,:}=])/g;

/** Every name that the sources of these folders of packages may ask an object for. */
export function namesIn(...folders) {
  const found = new Set();
  for (const folder of folders)
    for (const file of readdirSync(join(packages, folder), { recursive: true }))
      if (/\.ts$/.test(file) && !/test|generated|migrations/.test(file)) {
        const source = readFileSync(join(packages, folder, file), "utf8");
        for (const [, member, bound] of source.matchAll(READ)) found.add(member ?? bound);
      }
  return [...found].filter((name) => !(name in Object.prototype));
}

/**
 * Makes each check with each name and value on `Object.prototype`, one at a time.
 *
 * @param checks - By name: each resolves with true where it let somebody in. What it throws is no admission.
 * @returns The checks that let somebody in, and under what.
 */
export async function opened(names, checks) {
  const all = Object.entries(checks);
  const letIn = [];
  for (const name of names)
    for (const value of VALUES) {
      const results = [];
      Object.prototype[name] = value;
      for (let index = 0; index < all.length; index += 1) {
        try {
          results[index] = (await all[index][1]()) === true;
        } catch {
          results[index] = false;
        }
      }
      delete Object.prototype[name];
      for (const [index, isOpen] of results.entries())
        if (isOpen) letIn.push(`${all[index][0]} under ${name} = ${JSON.stringify(value)}`);
    }
  return letIn;
}
