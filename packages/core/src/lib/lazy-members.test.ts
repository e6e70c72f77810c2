import { describe, expect, test, vi } from "vitest";
import { allMembers, lazyMembers, type MemberMakers } from "./lazy-members.js";

const HIDDEN = Symbol("hidden");

interface Members {
  read(): string;
  write(): string;
  both(): string;
  [HIDDEN]: number;
}

function makers() {
  const made: string[] = [];
  const member = (name: "read" | "write") => (source: string) => {
    made.push(name);
    return () => `${name} ${source}`;
  };
  const all: MemberMakers<Members, string> = {
    read: member("read"),
    write: member("write"),
    both: (_, self) => () => `${self.read()}, ${self.write()}`,
    [HIDDEN]: (source) => source.length,
  };
  return { all, made };
}

describe("lazy members", () => {
  test("are made when they are first read, once", () => {
    const { all, made } = makers();
    const one = lazyMembers(all, "tides");
    expect(made).toEqual([]);
    expect(one.write()).toBe("write tides");
    expect(one.write).toBe(one.write);
    const { write } = one;
    expect(write()).toBe("write tides");
    expect(made).toEqual(["write"]);
    const other = lazyMembers(all, "maps");
    expect(other.write()).toBe("write maps");
    expect(one.write()).toBe("write tides");
  });

  test("are all there for whoever lists, tests or copies them, in their order", () => {
    const expected = ["read", "write", "both", HIDDEN];
    const fresh = () => lazyMembers(makers().all, "tides");
    const used = fresh();
    used.both();
    for (const object of [fresh(), used, allMembers(makers().all, "tides")]) {
      expect(Reflect.ownKeys(object)).toEqual(expected);
      expect(Reflect.ownKeys({ ...object })).toEqual(expected);
      expect({ ...object }.both()).toBe("read tides, write tides");
      expect(Object.entries(object).map(([name]) => name)).toEqual(["read", "write", "both"]);
    }
    expect("read" in fresh()).toBe(true);
    expect("other" in fresh()).toBe(false);
    expect(Object.hasOwn(fresh(), HIDDEN)).toBe(true);
    expect(Object.keys(fresh())).toHaveLength(3);
  });

  test("read nothing else: a promise of the object is the object", async () => {
    const one = lazyMembers(makers().all, "tides");
    expect(await one).toBe(one);
    expect(Reflect.get(one, "other")).toBeUndefined();
    expect(String(one)).toBe("[object Object]");
  });

  test("can be replaced, also by nothing, and what is replaced is not made again", () => {
    const { all, made } = makers();
    const one = lazyMembers(all, "tides");
    one.read = () => "mine";
    expect(one.both()).toBe("mine, write tides");
    Reflect.deleteProperty(one, "read");
    expect("read" in one).toBe(false);
    expect(one.read).toBeUndefined();
    Object.defineProperty(one, "write", { value: undefined });
    expect(one.write).toBeUndefined();
    const heir = Object.create(one) as Members;
    heir.both = () => "of the heir";
    expect(one.both).not.toBe(heir.both);
    expect(made).toEqual(["read", "write"]);
  });

  test("are not those of a polluted prototype", () => {
    Reflect.set(Object.prototype, "read", () => "of a stranger");
    try {
      expect(lazyMembers(makers().all, "tides").both()).toBe("read tides, write tides");
    } finally {
      Reflect.deleteProperty(Object.prototype, "read");
    }
  });

  test("can be frozen, with all of them", () => {
    const one = Object.freeze(lazyMembers(makers().all, "tides"));
    expect(Object.isFrozen(one)).toBe(true);
    expect(() => Reflect.apply(Object.assign, null, [one, { read: null }])).toThrow(TypeError);
    expect(one.both()).toBe("read tides, write tides");
  });

  test("can be watched by a test", () => {
    const one = lazyMembers(makers().all, "tides");
    const spy = vi.spyOn(one, "read").mockReturnValue("mine");
    expect(one.both()).toBe("mine, write tides");
    spy.mockRestore();
    expect(one.both()).toBe("read tides, write tides");
  });
});
