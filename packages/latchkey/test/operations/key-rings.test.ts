import { expect, test } from "vitest";
import { describeOnMemory, VAULT_KEYS } from "../test-context.js";

describeOnMemory("the rings of vault and pepper", (open) => {
  const ring = (id: string, key: Uint8Array) => ({ current: id, keys: { [id]: key } });

  test("must have no key in common, including keys that are not current", () => {
    const [one, two] = VAULT_KEYS;
    const vault = { current: "new", keys: { new: two, old: one } };
    expect(() => open({ vault, pepper: ring("p", Uint8Array.from(one)) })).toThrow(
      new TypeError('"vault" and "pepper" must not contain the same secret'),
    );
    expect(open({ vault: ring("v", one), pepper: ring("p", two) })).toHaveProperty("latchkey");
  });

  test("may have keys that start with the same bytes", () => {
    const [one] = VAULT_KEYS;
    const longer = Uint8Array.from([...one, 7]);
    expect(open({ vault: ring("v", one), pepper: ring("p", longer) })).toHaveProperty("latchkey");
  });
});
