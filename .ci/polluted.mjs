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
  // Under `return` no list can be taken apart: the language asks every iterator for it, and the program that checks cannot run either.
  return [...found].filter((name) => !(name in Object.prototype) && name !== "return");
}

/**
 * Makes each check with each name and value on `Object.prototype`, one at a time. A check that does not read the name there cannot tell
 * one value from another, so it is made once.
 *
 * @param checks - By name: each resolves with true where it let somebody in. What it throws is no admission.
 * @returns The checks that let somebody in, and under what.
 */
export async function opened(names, checks) {
  const letIn = [];
  for (const name of names) {
    const readers = {};
    let isRead = false;
    const watched = watchedProperty(name, () => {
      isRead = true;
    });
    await under(name, watched, async () => {
      for (const [title, check] of Object.entries(checks)) {
        isRead = false;
        if (await isOpen(check)) letIn.push(`${title} under ${name}`);
        if (isRead) readers[title] = check;
      }
    });
    for (const value of Object.keys(readers).length === 0 ? [] : VALUES)
      await under(name, descriptorOf(value), async () => {
        for (const [title, check] of Object.entries(readers))
          if (await isOpen(check)) letIn.push(`${title} under ${name} = ${JSON.stringify(value)}`);
      });
  }
  return letIn;
}

/** A plain property. It inherits nothing from `Object.prototype`, whatever is there. */
function descriptorOf(value) {
  return { __proto__: null, value, writable: true, enumerable: true, configurable: true };
}

/** `true` for every reader, and `onRead` is called. A write makes an own property, as it does over a plain one. */
function watchedProperty(name, onRead) {
  return {
    __proto__: null,
    enumerable: true,
    configurable: true,
    get() {
      onRead();
      return true;
    },
    set(value) {
      Object.defineProperty(this, name, descriptorOf(value));
    },
  };
}

async function under(name, property, work) {
  Object.defineProperty(Object.prototype, name, property);
  await work();
  delete Object.prototype[name];
}

async function isOpen(check) {
  try {
    return (await check()) === true;
  } catch {
    return false;
  }
}
