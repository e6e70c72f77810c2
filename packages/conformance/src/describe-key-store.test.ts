import { memoryStore } from "@latchkey/memory";
import { describe, expect, test } from "vitest";
import { describeKeyStore } from "./describe-key-store.js";

describe("sections", () => {
  test("of which one has no such name are refused, so that no test is left out by a typing error", () => {
    const define = () => describeKeyStore("a store", memoryStore, { sections: ["page", "pages"] });
    expect(define).toThrow(new TypeError('"sections": no section is called "pages"'));
  });
});
