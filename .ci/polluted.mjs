// @ts-nocheck: the compiler cannot know what this does to Object.prototype.
// Checks decisions under a polluted Object.prototype: one bad merge in any package of a program affects all objects.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const packages = fileURLToPath(new URL("../packages", import.meta.url));

/** Values that careless programs leave on it. */
const VALUES = [true, "VALID", 0, {}];

/** Names that code reads from objects: after a dot, in a destructuring pattern or as the name of a member. */
const READ = /\.([A-Za-z_$][\w$]*)|[{,]\s*([A-Za-z_$][\w$]*)\s*(?=[,:}=])/g;

/** Names that code looks for with `in`, as a literal. */
const ASKED = /"([A-Za-z_$][\w$]*)" in /g;

/**
 * Runs a program's checks, prints the results as JSON, and ends the process. Each check runs first as it is, and then with every name that
 * the sources in these folders and files read on `Object.prototype`.
 */
export async function tell(checks, ...places) {
  const unpolluted = [];
  for (const [title, check] of Object.entries(checks)) if (await check()) unpolluted.push(title);
  const found = namesIn(...places);
  const letIn = await opened(found, checks);
  const counts = { names: found.names.length, checks: Object.keys(checks).length };
  console.log(JSON.stringify({ ...counts, unpolluted, letIn }));
  process.exit(0);
}

/**
 * Every name that the sources in these folders and files of packages may read from an object.
 *
 * @returns `asked`: names that they look for with `in`, which an accessor cannot detect.
 */
function namesIn(...places) {
  const [names, asked] = [new Set(), new Set()];
  for (const place of places)
    for (const file of filesAt(join(packages, place)))
      if (/\.ts$/.test(file) && !/test|generated|migrations/.test(file)) {
        const source = readFileSync(file, "utf8");
        for (const [, member, bound] of source.matchAll(READ)) names.add(member ?? bound);
        for (const [, name] of source.matchAll(ASKED)) asked.add(name);
      }
  // `return` cannot be planted: destructuring a list calls it on the iterator, so the checking program could not run either.
  const isPlantable = (name) => !(name in Object.prototype) && name !== "return";
  return { names: [...names].filter(isPlantable), asked: [...asked].filter(isPlantable) };
}

/** The paths of all files below a folder, or of one file. */
function filesAt(path) {
  if (path.endsWith(".ts")) return [path];
  return readdirSync(path, { recursive: true }).map((file) => join(path, file));
}

/** How many names that a check does not read are planted at once. */
const TOGETHER = 40;

/**
 * Runs each check with each name on `Object.prototype`. A name that the check reads, or may look for with `in`, is planted alone and with
 * each value. The check can meet the other names only if it enumerates an object, so several of them are planted at once, unless that
 * changes the outcome.
 *
 * @param checks - By title. Each resolves with true if it admitted somebody. An error is no admission.
 * @returns The checks that admitted somebody, and the planted names and values.
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
      // A check that reads all of them enumerates them. Names that it reads also when they are not enumerable are read by name.
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

/** The names that a check does not read when each has this value. */
async function unreadBy(check, names, value) {
  const read = new Set();
  for (let unread = names; ; unread = unread.filter((name) => !read.has(name))) {
    const before = read.size;
    const watch = (name) => [name, watchedProperty(name, value, () => read.add(name))];
    await outcomeUnder(unread.map(watch), check);
    if (read.size === before) return unread;
  }
}

/** Descriptor of a plain property. The descriptor inherits nothing from `Object.prototype`. */
function descriptorOf(value) {
  return { __proto__: null, value, writable: true, enumerable: true, configurable: true };
}

/**
 * Descriptor of a property that calls `onRead` at every read. Undefined as value: it looks absent. A write creates an own property, as with
 * a plain one.
 */
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

/** Whether the check admitted somebody, or "it failed". */
async function outcomeOf(check) {
  try {
    return (await check()) === true;
  } catch {
    return "it failed";
  }
}
