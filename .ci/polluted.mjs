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

/** What an object is asked whether it has, by a name that stands there. */
const ASKED = /"([A-Za-z_$][\w$]*)" in /g;

/**
 * Ends a program of checks: makes each as it is, and then with every name of the sources of these folders on `Object.prototype`, and
 * writes what it found as JSON.
 */
export async function tell(checks, ...folders) {
  const unpolluted = [];
  for (const [title, check] of Object.entries(checks)) if (await check()) unpolluted.push(title);
  const found = namesIn(...folders);
  const letIn = await opened(found, checks);
  const counts = { names: found.names.length, checks: Object.keys(checks).length };
  console.log(JSON.stringify({ ...counts, unpolluted, letIn }));
  process.exit(0);
}

/**
 * Every name that the sources of these folders of packages may ask an object for.
 *
 * @returns `asked`: those that they ask with `in`, which no property notices.
 */
function namesIn(...folders) {
  const [names, asked] = [new Set(), new Set()];
  for (const folder of folders)
    for (const file of readdirSync(join(packages, folder), { recursive: true }))
      if (/\.ts$/.test(file) && !/test|generated|migrations/.test(file)) {
        const source = readFileSync(join(packages, folder, file), "utf8");
        for (const [, member, bound] of source.matchAll(READ)) names.add(member ?? bound);
        for (const [, name] of source.matchAll(ASKED)) asked.add(name);
      }
  // Under `return` no list can be taken apart: the language asks every iterator for it, and the program that checks cannot run either.
  const isPlantable = (name) => !(name in Object.prototype) && name !== "return";
  return { names: [...names].filter(isPlantable), asked: [...asked].filter(isPlantable) };
}

/** How many names that a check does not read it meets at once. */
const TOGETHER = 40;

/**
 * Makes each check with each name on `Object.prototype`: alone and with each value, where it reads the name or may ask whether it is there.
 * The other names it can meet only where it goes through all that an object has. Several of them are there at once, unless that changes
 * what becomes of the check.
 *
 * @param checks - By name: each resolves with true where it let somebody in. What it throws is no admission.
 * @returns The checks that let somebody in, and under what.
 */
async function opened({ names, asked }, checks) {
  const letIn = [];
  const others = names.filter((name) => !asked.includes(name));
  for (const [title, check] of Object.entries(checks)) {
    const usual = await outcomeOf(check);
    const look = async (planted, value) => {
      const properties = planted.map((name) => [name, descriptorOf(value)]);
      const outcome = await outcomeUnder(properties, check);
      if (outcome === true) letIn.push(`${title} under ${planted} = ${JSON.stringify(value)}`);
      return outcome;
    };
    const alone = [...asked];
    for (let from = 0; from < others.length; from += TOGETHER) {
      const some = others.slice(from, from + TOGETHER);
      const shown = await unreadBy(check, some, true);
      // A check that reads all of them goes through what is there: it reads by name what it also reads when they do not show.
      const unread = new Set(shown.length > 0 ? shown : await unreadBy(check, some, undefined));
      if ((await look([...unread], true)) !== usual)
        for (const name of unread) {
          await look([name], true);
          if ((await unreadBy(check, [name], true)).length === 0) unread.delete(name);
        }
      alone.push(...some.filter((name) => !unread.has(name)));
    }
    for (const name of alone) for (const value of VALUES) await look([name], value);
  }
  return letIn;
}

/** Those of the names that a check does not read where each has this value. */
async function unreadBy(check, names, value) {
  const read = new Set();
  for (let unread = names; ; unread = unread.filter((name) => !read.has(name))) {
    const before = read.size;
    const watch = (name) => [name, watchedProperty(name, value, () => read.add(name))];
    await outcomeUnder(unread.map(watch), check);
    if (read.size === before) return unread;
  }
}

/** A plain property. It inherits nothing from `Object.prototype`, whatever is there. */
function descriptorOf(value) {
  return { __proto__: null, value, writable: true, enumerable: true, configurable: true };
}

/** Calls `onRead` for every reader; without a value it is as good as not there. A write makes an own property, as it does over a plain one. */
function watchedProperty(name, value, onRead) {
  return {
    __proto__: null,
    enumerable: value !== undefined,
    configurable: true,
    get() {
      onRead();
      return value;
    },
    set(written) {
      Object.defineProperty(this, name, descriptorOf(written));
    },
  };
}

async function outcomeUnder(properties, check) {
  for (const [name, property] of properties)
    Object.defineProperty(Object.prototype, name, property);
  const outcome = await outcomeOf(check);
  for (const [name] of properties) delete Object.prototype[name];
  return outcome;
}

/** Whether somebody was let in, or that it failed. */
async function outcomeOf(check) {
  try {
    return (await check()) === true;
  } catch {
    return "it failed";
  }
}
