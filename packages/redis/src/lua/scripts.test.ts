import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { SCRIPTS } from "../scripts.js";

const folder = new URL("./", import.meta.url);
const files = readdirSync(folder).filter((file) => file.endsWith(".lua"));
const includes = readdirSync(new URL("include/", folder));
const read = (file: string) => readFileSync(new URL(file, folder), "utf8");
const includedBy = (file: string) =>
  [...read(file).matchAll(/^-- include (\S+)$/gm)].map(([, name]) => name as string);
/** With the files that it includes in the places where it says so. */
const textOf = (file: string) =>
  read(file).replace(/^-- include (\S+)\n/gm, (_, name) => read(`include/${name}`));
/** Without comments, the header among them. */
const codeOf = (file: string) =>
  textOf(file)
    .replace(/--\[\[.*?\]\]/gs, "")
    .replace(/--[^\n]*/g, "");

describe("scripts", () => {
  test("the embedded texts are those of the files", () => {
    const embedded = Object.values(SCRIPTS).map(({ text }) => text);
    const written = files.map(textOf);
    const isSame = embedded.toSorted().join() === written.toSorted().join();
    expect(isSame, "run `npm run embed-lua` in packages/redis").toBe(true);
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
      // A key name is an item of KEYS, or a local that was given one.
      const names = [...code.matchAll(/call\("[A-Z]+", ([^,)]+)/g)].map(([, name]) => name);
      const allowed =
        /^(KEYS\[.+\]|homes\[.+\]|key\.(record|long|counters)|byId|byName|catalog|changes|changeList|counters|home|identityKey|long|memory|other|record|uses|usesKey|windowsKey|workspace)$/;
      expect(names.filter((name) => !allowed.test(name as string))).toEqual([]);
    },
  );

  test.each(includes)("include/%s is part of some script", (file) => {
    expect(files.filter((script) => includedBy(script).includes(file))).not.toEqual([]);
  });

  test.each(files)("%s includes nothing that it does not use", (file) => {
    const definedIn = (name: string) =>
      [...read(`include/${name}`).matchAll(/^local (?:function )?(\w+)/gm)].map(
        ([, word]) => word as string,
      );
    const own = includedBy(file);
    for (const name of own) {
      const elsewhere = textOf(file).replace(read(`include/${name}`), "");
      const isCalled = definedIn(name).some((word) => new RegExp(`\\b${word}\\b`).test(elsewhere));
      expect(isCalled, `${name} in ${file}`).toBe(true);
    }
  });

  test.each(files)("%s scans no key space and no collection of unbounded size", (file) => {
    expect(codeOf(file)).not.toMatch(
      /"(KEYS|SCAN|[HSZ]SCAN|SMEMBERS|ZRANGE|ZREVRANGE|LRANGE|HVALS|SORT)"/,
    );
  });
});
