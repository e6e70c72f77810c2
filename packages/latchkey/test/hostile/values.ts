import fc from "fast-check";

/** A hostile value as JSON. `{ $: name }` stands for a value that JSON cannot express; {@link revive} makes it. */
export type Recipe = unknown;

/** Values that JSON cannot express, or not briefly, by name. */
const SPECIAL: Readonly<Record<string, () => unknown>> = {
  undefined: () => undefined,
  NaN: () => Number.NaN,
  Infinity: () => Number.POSITIVE_INFINITY,
  "-0": () => -0,
  bigint: () => 1n,
  symbol: () => Symbol("s"),
  function: () => () => "f",
  "invalid date": () => new Date(Number.NaN),
  date: () => new Date(Date.UTC(2030, 0)),
  "date of another class": () => Object.create(Date.prototype),
  "boxed text": () => new String("docs.read"),
  "boxed number": () => new Number(1),
  map: () => new Map([["name", "x"]]),
  "regular expression": () => /x/,
  promise: () => Promise.resolve(1),
  "null prototype": () => Object.assign(Object.create(null), { name: "x" }),
  "inherited fields": () => Object.create({ name: "x", limit: 1, cost: 1 }),
  "own __proto__": () => JSON.parse('{"__proto__":{"name":"x"},"constructor":1}'),
  "getter that throws": () =>
    Object.defineProperty({}, "name", {
      enumerable: true,
      get: () => {
        throw new Error("a getter");
      },
    }),
  "getter that changes": () => {
    let reads = 0;
    return Object.defineProperty({}, "name", {
      enumerable: true,
      get: () => (++reads % 2 === 0 ? 1 : "docs.read"),
    });
  },
  "proxy that throws": () => {
    const refuse = () => {
      throw new Error("a trap");
    };
    return new Proxy({}, { get: refuse, ownKeys: refuse, getPrototypeOf: refuse, has: refuse });
  },
  "revoked proxy": () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  },
  "revoked list": () => {
    const { proxy, revoke } = Proxy.revocable([], {});
    revoke();
    return proxy;
  },
  circle: () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    return circle;
  },
  "circle of lists": () => {
    const circle: unknown[] = [];
    circle.push(circle);
    return circle;
  },
  "list with holes": () => new Array(3),
  "list with fields": () => Object.assign(["docs.read"], { and: ["x"], name: "x" }),
  bytes: () => new Uint8Array(3),
  "toJSON that throws": () => ({
    toJSON: () => {
      throw new Error("toJSON");
    },
  }),
  "toString that throws": () => ({
    toString: () => {
      throw new Error("toString");
    },
  }),
  "deep lists": () => nested(2_000, (inner) => [inner]),
  "deep objects": () => nested(2_000, (inner) => ({ a: inner })),
  "deep question": () => nested(2_000, (inner) => ({ and: [inner] })),
  "long text": () => "x".repeat(100_000),
  "long list": () => new Array(20_001).fill("docs.read"),
  "wide object": () => Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`f${at}`, at])),
};

function nested(levels: number, around: (inner: unknown) => unknown): unknown {
  let value: unknown = "docs.read";
  for (let level = 0; level < levels; level += 1) value = around(value);
  return value;
}

/** Texts that parsers of this product, or the systems behind them, might misread. */
const TEXTS = [
  ..." ,0,-0,-1,1,1.5,1e3,1e999,0x10,٣,NaN,null,true,__proto__,constructor,toString,then,*".split(
    ",",
  ),
  ...[
    "",
    "\0",
    "\ud800",
    "\u202e",
    "ａ",
    "é",
    "e\u0301",
    "\r\nset-cookie: a=b",
    "'; DROP TABLE x",
    "%00",
  ],
  ...[
    "{}",
    "[]",
    '{"a":',
    "\\",
    '"',
    "\x01",
    "\n",
    "\t ",
    "🦊".repeat(40),
    "{tag}",
    "x".repeat(513),
  ],
  ...["1s", "1 s", "0ms", "-1s", "1.5s", "1S", "99999999999999d", "1e3s", "1ms1s", "365d", "1w"],
  ...[
    "10.0.0.1",
    "10.0.0.1/33",
    "010.0.0.1",
    "1.2.3",
    "::",
    "::1%eth0",
    "::ffff:10.0.0.1",
    "fe80::/129",
  ],
  ...[
    "docs.read",
    "docs.*",
    "*.*",
    "docs..read",
    "docs.read ",
    "a AND b",
    "(",
    "NOT a",
    "api.*.create_key",
  ],
  ...["default", "daily", "monthly", "fixed", "sliding", "token-bucket", "identity", "hour"],
  ...[
    "2026-01-01",
    "2026-02-30T00:00:00Z",
    "key_",
    "api_1",
    "MTphcGlzOg",
    "MTprZXlzOmFwaV8xOmtleV8x",
    "====",
  ],
];

const NUMBERS = [
  ...[-1, 0, 1, 2, 31, 32, 100, 101, 255, 256, 1_000, 1_001, 0.5, 1e308, -1e308, 5e-324],
  ...[2 ** 31, 2 ** 32, 2 ** 51, 2 ** 52, 2 ** 52 + 1, 2 ** 53 - 1, 2 ** 53, -(2 ** 53), 2 ** 63],
  ...[1_773_144_000_000, 1_773_144_000_001, 8_640_000_000_000_000, 8_640_000_000_000_001],
];

/** Any text; mostly one that might be misread. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 40 }) },
  { weight: 1, arbitrary: fc.string({ maxLength: 200 }) },
);

const FIELDS =
  "name,limit,duration,cost,and,or,interval,amount,refillDay,id,algorithm,burst,shadow,value,variant,__proto__,constructor,then,length,toJSON";

/** Any JSON, with field names of inputs. */
export const hostileJson: fc.Arbitrary<fc.JsonValue> = fc.letrec<{ value: fc.JsonValue }>(
  (tie) => ({
    value: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      { weight: 3, arbitrary: hostileText },
      { weight: 3, arbitrary: fc.constantFrom<fc.JsonValue>(...NUMBERS, null, true, false) },
      { weight: 1, arbitrary: fc.array(tie("value"), { maxLength: 4 }) },
      {
        weight: 1,
        arbitrary: fc
          .array(fc.tuple(fc.constantFrom(...FIELDS.split(",")), tie("value")), { maxLength: 4 })
          // Like JSON.parse, which treats __proto__ as an ordinary field.
          .map((fields) =>
            JSON.parse(
              `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)}}`,
            ),
          ),
      },
    ),
  }),
).value;

/** A recipe of any value. */
export const hostile: fc.Arbitrary<Recipe> = fc.oneof(
  { weight: 3, arbitrary: hostileJson },
  { weight: 2, arbitrary: fc.constantFrom(...Object.keys(SPECIAL)).map((name) => ({ $: name })) },
);

/** The value of a recipe. */
export function revive(recipe: Recipe): unknown {
  if (Array.isArray(recipe)) return recipe.map(revive);
  if (typeof recipe !== "object" || recipe === null) return recipe;
  const { $: name } = recipe as { $?: string };
  return name === undefined ? recipe : SPECIAL[name]?.();
}
