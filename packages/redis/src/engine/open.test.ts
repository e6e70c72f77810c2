import { describe, expect, test } from "vitest";
import { redisStore } from "../index.js";
import { errorOf } from "../testing/errors.js";
import { freePort } from "../testing/redis-server.js";

/** The message of the TypeError that a URL causes. */
function errorOfUrl(url: string): string {
  try {
    redisStore(url);
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    expect((error as TypeError).cause).toBeUndefined();
    return (error as TypeError).message;
  }
  throw new Error("the URL was taken");
}

describe("a URL that is refused at once, with the accepted forms in the error", () => {
  test.each(["", "redis:", "http://a", "memory:", "redis+cluster://", "redis+cluster://a:x"])(
    "%j is of no known form",
    (url) => {
      expect(errorOfUrl(url)).toContain('"url" must be redis://');
    },
  );

  test.each([
    "/abc",
    "/ 1",
    "//2",
    "/-1",
    "/+1",
    "/1.5",
    "/1e1",
    "/1/",
    "/1/2",
    "/0x1",
    "/%31",
    "/1\n2",
  ])("%j is no database number", (path) => {
    expect(errorOfUrl(`redis://127.0.0.1:1${path}`)).toContain('"url" must be redis://');
  });

  test.each(["?db=5", "/?db=5", "/5?", "?family=6", "?tls=true", "#5", "/5#"])(
    "%j: there is nothing after the database number",
    (end) => {
      expect(errorOfUrl(`rediss://127.0.0.1:1${end}`)).toContain('"url" must be redis://');
    },
  );

  test.each(["/", "/0", "/1", "?db=5", "#5", ",", "/1,b:1", " "])(
    "%j after the nodes of a cluster, which has one database",
    (end) => {
      expect(errorOfUrl(`redis+cluster://a:1${end}`)).toContain('"url" must be redis://');
    },
  );

  test.each([
    "redis+cluster://user:hunter2@a b:1",
    "redis://user:hunter2@a:1/hunter2",
    "redis://user:hunter2%zz@a:1",
    "redis+cluster://user:hunter2%zz@a:1",
  ])("%j, without a word of it in the message", (url) => {
    expect(errorOfUrl(url)).not.toMatch(/hunter2|%zz|user:h/);
  });
});

describe("a URL that is accepted", () => {
  test.each(["", "/", "/0", "/1", "/15", "/007"])("%j after the port", async (path) => {
    const store = redisStore(`redis://127.0.0.1:${await freePort()}${path}`, {
      connectTimeoutMs: 1,
    });
    try {
      expect(await errorOf(store.read("ws_default", []))).toMatchObject({
        code: "STORE_UNAVAILABLE",
      });
    } finally {
      await store.close();
    }
  });

  test("a user name and a password, percent-encoded", async () => {
    for (const scheme of ["redis", "redis+cluster"]) {
      await redisStore(`${scheme}://us%40er:p%3Fa%23s%2Fs@127.0.0.1:1`).close();
    }
  });
});
