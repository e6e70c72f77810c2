import { readdirSync, readFileSync } from "node:fs";
import {
  KEPT_AFTER_END_MS as KEPT,
  LAST_INSTANT,
  MOST_ENDED_AT_ONCE,
  REMEMBER_END_MS,
} from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { SCRIPT_COMMANDS, SCRIPTS, type Script } from "../engine/scripts.js";

const MAX = Number.MAX_SAFE_INTEGER;
const folder = new URL("./", import.meta.url);
const files = readdirSync(folder).filter((file) => file.endsWith(".lua"));
const includes = readdirSync(new URL("include/", folder));
const read = (file: string) => readFileSync(new URL(file, folder), "utf8");
const INCLUDE = /^-- include (\S+)\n/gm;
/** The text of a file, with the included files in their places. */
const textOf = (file: string): string =>
  read(file).replace(INCLUDE, (_, name) => textOf(`include/${name}`));
/** The code of a file, without comments and the header. */
const codeOf = (file: string) =>
  textOf(file)
    .replace(/--\[\[.*?\]\]/gs, "")
    .replace(/--[^\n]*/g, "");

describe("scripts", () => {
  test("the embedded texts are those of the files", () => {
    const { commitFreeing, ...embeddedScripts } = SCRIPTS;
    const embedded = Object.values<Script>(embeddedScripts).map(({ text }) => text);
    const written = files.map(textOf);
    expect(commitFreeing.text.replace(" flags=allow-oom", "")).toBe(textOf("commit.lua"));
    const isSame = embedded.toSorted().join() === written.toSorted().join();
    expect(isSame, "run `npm run embed-lua` in packages/redis").toBe(true);
  });

  test("the commands whose rights are checked before the first call are those that scripts run", () => {
    // A command in a variable is one of sorted sets.
    const found = files.flatMap((file) => [
      ...codeOf(file).matchAll(/call\("([A-Z]+)"|"(Z[A-Z]+)"/g),
    ]);
    const words = new Set(found.map(([, called, named]) => called ?? named));
    expect([...words].toSorted()).toEqual(SCRIPT_COMMANDS.map((command) => command.split(" ")[0]));
  });

  test("a window is kept after its end as long as core says", () => {
    expect(codeOf("charge.lua")).toContain(`MAX, KEPT_AFTER_END_MS, SHARED = ${MAX}, ${KEPT}, `);
  });

  test("a hold ends, is remembered and is ended with others as core says", () => {
    expect(codeOf("charge.lua")).toContain(`math.min(now + spanMs, ${LAST_INSTANT})`);
    const settle = codeOf("settle.lua");
    expect(settle).toContain(`REMEMBER_END_MS = ${REMEMBER_END_MS}\n`);
    expect(settle).toContain(`KEPT_AFTER_END_MS = ${KEPT}\n`);
    expect(settle).toContain(`LAST_INSTANT, step = ${LAST_INSTANT}, `);
    expect(codeOf("refresh-holds.lua")).toContain(`MOST_ENDED_AT_ONCE = ${MOST_ENDED_AT_ONCE}\n`);
  });

  test.each(files)("%s says what it takes, answers and mirrors", (file) => {
    const text = textOf(file);
    expect(text.startsWith("#!lua")).toBe(true);
    for (const heading of ["KEYS[1]", "Returns", "Mirrors"]) expect(text).toContain(heading);
  });

  test.each(files)(
    "%s takes keys and time from its caller, and never answers an error text",
    (file) => {
      const code = codeOf(file);
      for (const word of ['"TIME"', "os.time", "error_reply", "error(", "loadstring", "cjson"]) {
        expect(code).not.toContain(word);
      }
      // The name of a key is an item of KEYS, or a variable that holds one.
      const names = [...code.matchAll(/call\("[A-Z]+", ([^,)]+)/g)].map(([, name]) => name);
      const allowed =
        /^(KEYS\[.+\]|(\w+\.)?home|key|memory|held|ends|(name|field|write|owner)\[1\])$/;
      expect(names.filter((name) => !allowed.test(name as string))).toEqual([]);
    },
  );

  test.each(files)("%s joins no text to the name of a key", (file) => {
    const code = codeOf(file);
    expect(code).not.toMatch(/KEYS\[[^\]]+\] \.\. (?!" ")/);
    expect(code).not.toMatch(/\bhome = [^\n]*\.\./);
  });

  test.each(includes)("include/%s is part of some script", (file) => {
    const all = [...files, ...includes.map((name) => `include/${name}`)];
    expect(all.filter((other) => read(other).includes(`-- include ${file}\n`))).not.toEqual([]);
  });

  test.each(files)("%s scans no key space and no collection of unbounded size", (file) => {
    expect(codeOf(file)).not.toMatch(
      /"(KEYS|SCAN|[HSZ]SCAN|SMEMBERS|ZRANGE|ZREVRANGE|LRANGE|HVALS|SORT)"/,
    );
  });
});
