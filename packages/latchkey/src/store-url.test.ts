import { describe, expect, test } from "vitest";
import { parseStoreUrl, withoutPassword } from "./store-url.js";

describe("a store URL", () => {
  test("memory: names the store of this process", () => {
    expect(parseStoreUrl("memory:")).toEqual({ kind: "memory" });
  });

  test.each([
    ["sqlite:./keys.db", "./keys.db"],
    ["sqlite:keys.db", "keys.db"],
    ["sqlite:/var/lib/keys.db", "/var/lib/keys.db"],
    ["sqlite:///var/lib/keys.db", "///var/lib/keys.db"],
    ["sqlite::memory:", ":memory:"],
    ["sqlite:./100% mine.db", "./100% mine.db"],
    ["SQLite:./keys.db", "./keys.db"],
  ])("%s names a SQLite file by its path, unchanged", (url, path) => {
    expect(parseStoreUrl(url)).toEqual({ kind: "sqlite", path });
  });

  test.each([
    ["memory:keys", '"url" must be just memory:, with no name'],
    ["sqlite:", '"url" must name a file after sqlite:, or be sqlite::memory:'],
    ["sqlite::temp:", '"url" must name a file after sqlite:, or be sqlite::memory:'],
    ["sqlite://keys.db", '"url" must not have a host: sqlite:./keys.db or sqlite:/var/lib/keys.db'],
    [
      "sqlite:./keys.db?mode=ro",
      '"url" must not have a query or a fragment: the path is used as is',
    ],
    ["sqlite:./keys.db#main", '"url" must not have a query or a fragment: the path is used as is'],
    [
      "sqlite:~/keys.db",
      '"url" must not begin with ~, which is not expanded: write out your home directory',
    ],
  ])("%s is refused with the reason", (url, message) => {
    expect(() => parseStoreUrl(url)).toThrow(new TypeError(message));
  });

  test.each([
    "redis://127.0.0.1:6379/0",
    "rediss://app:secret@keys.internal",
    "redis+cluster://a:6379,b:6379",
    "rediss+cluster://a:6379",
  ])("%s names a Redis store, and is passed on unchanged", (url) => {
    expect(parseStoreUrl(url)).toEqual({ kind: "redis", url });
  });

  test.each(["postgres://app@127.0.0.1/keys", "postgresql://app:secret@keys.internal:5432/keys"])(
    "%s names a PostgreSQL store, and is passed on unchanged",
    (url) => {
      expect(parseStoreUrl(url)).toEqual({ kind: "postgres", url });
    },
  );

  test.each([
    ["REDIS://Keys:6379", "redis", "redis://Keys:6379"],
    ["Postgres://App@host/Keys", "postgres", "postgres://App@host/Keys"],
  ])("%s, with a scheme in capitals, names a %s store", (url, kind, passedOn) => {
    expect(parseStoreUrl(url)).toEqual({ kind, url: passedOn });
  });

  test.each([
    ["nothing", undefined],
    ["null", null],
    ["a URL object", new URL("redis://app:hunter2@127.0.0.1:1")],
  ])("that is %s is refused, because it is not a text", (_what, url) => {
    expect(() => parseStoreUrl(url as never)).toThrow('"url" must be a string: memory:, sqlite:');
    expect(() => parseStoreUrl(url as never)).not.toThrow("hunter2");
  });

  test("an unknown scheme is named, and the known forms are listed", () => {
    expect(() => parseStoreUrl("mongodb://127.0.0.1/keys")).toThrow(
      new TypeError(
        '"url" must be memory:, sqlite:./keys.db, sqlite:/var/lib/keys.db, sqlite::memory:, redis://host:6379/0, rediss://host:6379/0, redis+cluster://a:6379,b:6379 or postgres://user@host/database, not mongodb://',
      ),
    );
  });

  test.each(["", "keys.db", "./keys.db", "memory", "C:\\keys.db"])(
    "%j has no known scheme",
    (url) => {
      expect(() => parseStoreUrl(url)).toThrow(TypeError);
    },
  );

  test.each([
    "mongodb://app:hunter2@127.0.0.1",
    "sqlite://app:hunter2@127.0.0.1/keys.db",
    "memory://app:hunter2@127.0.0.1",
    "app:hunter2@127.0.0.1",
    "hunter2@127.0.0.1",
    "hunter2:@127.0.0.1",
  ])("the password in %s is never part of the error", (url) => {
    let message = "";
    try {
      parseStoreUrl(url);
    } catch (error) {
      message = String(error);
    }
    expect(message).toContain('"url"');
    expect(message).not.toContain("hunter2");
  });
});

test.each([
  ["sqlite:./keys.db", "sqlite:./keys.db"],
  ["postgres://app:hunter2@db.example:5432/app", "postgres://db.example:5432/app"],
  ["postgres://db.example/app?password=hunter2", "postgres://db.example/app"],
  ["postgres://db.example/app?password=p@hunter2", "postgres://…"],
  ["postgres://app:p/hunter2@db.example/app", "postgres://…"],
  ["postgres://app:p?hunter2@db.example/app", "postgres://…"],
  ["postgres://app:p@hunter2@db.example/app", "postgres://…"],
  ["rediss://:hunter2@[::1]:6379/0", "rediss://[::1]:6379/0"],
  ["redis+cluster://app:hunter2@a:6379,b:6379", "redis+cluster://a:6379,b:6379"],
])("%s is named in messages without a possible password", (url, named) => {
  expect(withoutPassword(url)).toBe(named);
});
