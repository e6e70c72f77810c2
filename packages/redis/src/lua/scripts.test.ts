import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { SCRIPTS } from "../scripts.js";

const folder = new URL("./", import.meta.url);
const files = readdirSync(folder).filter((file) => file.endsWith(".lua"));
const textOf = (file: string) => readFileSync(new URL(file, folder), "utf8");
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
        /^(KEYS\[.+\]|unpack\(fields|byId|byName|catalog|home|other|memory|identityKey|homes\[.+\])$/;
      expect(names.filter((name) => !allowed.test(name as string))).toEqual([]);
    },
  );

  test.each(files)("%s scans no key space and no collection of unbounded size", (file) => {
    expect(codeOf(file)).not.toMatch(/"(KEYS|SCAN|[HSZ]SCAN|SMEMBERS|ZRANGE|LRANGE|HVALS|SORT)"/);
  });
});
