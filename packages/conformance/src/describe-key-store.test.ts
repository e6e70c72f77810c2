import { memoryStore } from "@latchkey/memory";
import { describe, expect, test } from "vitest";
import { describeKeyStore } from "./describe-key-store.js";

describe("sections", () => {
  test("with an unknown name are refused, so that a typing error leaves out no test", () => {
    const define = () => describeKeyStore("a store", memoryStore, { sections: ["page", "pages"] });
    expect(define).toThrow(new TypeError('"sections": no section is called "pages"'));
  });
});
