import { createHash, randomBytes } from "node:crypto";
import { createLatchkey, secretStart } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { beforeAll, describe, expect, test } from "vitest";
import { runInProcess } from "../testing/run-in-process.js";
import { redact } from "./redact.js";
import { scannerRule } from "./scanner-rules.js";
import { BASE58, bodyRange, isSecretBody } from "./secret-body.js";

const MANY = 20_000;

/** Makes a secret as the format's documentation describes, without core: creating that many keys in a store takes too long. */
function writeSecret(prefix: string, random: Uint8Array): string {
  const payload = Buffer.from([2, random.length, ...random]);
  const checksum = createHash("sha256").update(prefix).update(payload).digest().subarray(0, 4);
  let rest = BigInt(`0x${Buffer.concat([payload, checksum]).toString("hex")}`);
  let body = "";
  for (; rest > 0n; rest /= 58n) body = BASE58[Number(rest % 58n)] + body;
  return `${prefix}_${body}`;
}

/** Keys issued by the library. */
async function issue(prefix: string, byteLength: number, count: number): Promise<string[]> {
  const latchkey = createLatchkey({ store: memoryStore(), auditLog: false, usage: false });
  const { apiId } = await latchkey.createApi({ name: "tides" });
  const keys: string[] = [];
  for (let made = 0; made < count; made += 1)
    keys.push((await latchkey.createKey({ apiId, prefix, byteLength })).key);
  await latchkey.close();
  return keys;
}

const patternOf = (prefix: string, byteLength: number | null) =>
  new RegExp(scannerRule({ prefix, byteLength }, "regex"));

/** The pattern of a gitleaks rule. It means the same in JavaScript and Go. */
function gitleaksPattern(prefix: string): RegExp {
  const rule = scannerRule({ prefix, byteLength: 16 }, "gitleaks");
  return new RegExp(/regex = '''(.*)'''/.exec(rule)?.[1] ?? "none");
}

/** Ways to turn a secret into a near miss. */
const NEAR_MISSES: readonly ((secret: string, at: number) => string)[] = [
  (secret) => secret.slice(0, -1),
  (secret, at) => secret + BASE58[at % 58],
  (secret) => secret.replace("pay_live_", "pay_test_"),
  (secret) => secret.replace("pay_live_", "pay_live"),
  (secret) => secret.replace("pay_live_", "PAY_LIVE_"),
  (secret) => `x${secret}`,
  (secret) => `${secret}_2`,
  // A character outside of base58, anywhere in the body.
  (secret, at) => replaceAt(secret, 9 + (at % 29), "0OIl"[at % 4] ?? "0"),
  // Another version, another length.
  (secret, at) => replaceAt(secret, 9, "123456789ABCDEFGHJKLMNPQRSTUVWXYab"[at % 32] ?? "1"),
  (secret) => `pay_live_${bodyRange(17).lowest.slice(0, 4)}${secret.slice(13)}`,
];

function replaceAt(text: string, at: number, by: string): string {
  return text.slice(0, at) + by + text.slice(at + 1);
}

describe("the rules of scanners", () => {
  let secrets: readonly string[] = [];
  beforeAll(() => {
    const random = randomBytes(16 * MANY);
    secrets = Array.from({ length: MANY }, (_, at) =>
      writeSecret("pay_live", random.subarray(16 * at, 16 * at + 16)),
    );
  });

  test("find every one of 20,000 keys, alone and within a line", () => {
    const [pattern, leaks] = [patternOf("pay_live", 16), gitleaksPattern("pay_live")];
    for (const secret of secrets) {
      if (pattern.exec(`key: "${secret}",`)?.[0] !== secret) expect.fail(secret);
      if (leaks.exec(`KEY=${secret}`)?.[1] !== secret) expect.fail(secret);
    }
    expect(pattern.test(secrets[0] ?? "")).toBe(true);
  });

  test("find none of 20,000 near misses", () => {
    const [pattern, leaks] = [patternOf("pay_live", 16), gitleaksPattern("pay_live")];
    const first = new Set(["Z"]);
    const found = secrets.filter((secret, at) => {
      const miss = NEAR_MISSES[at % NEAR_MISSES.length]?.(secret, at) ?? secret;
      first.add(secret.charAt(9));
      return miss !== secret && (pattern.test(miss) || leaks.test(miss));
    });
    expect(found).toEqual([]);
    expect([...first]).toEqual(["Z"]);
  });

  test("find the keys that the library issues, of every length", async () => {
    for (const byteLength of [16, 17, 32, 64, 255]) {
      const keys = await issue("pay_live", byteLength, 40);
      for (const pattern of [patternOf("pay_live", byteLength), patternOf("pay_live", null)])
        expect(keys.filter((key) => pattern.exec(key)?.[0] !== key)).toEqual([]);
    }
  });

  test("are printed with --byte-length for keys of that length, or of any length", async () => {
    for (const [option, byteLength] of [
      ["16", 16],
      ["100", 100],
      ["any", 16],
      ["any", 255],
    ] as const) {
      const args = ["--prefix", "pay_live", "--format", "regex", "--byte-length", option];
      const { exitCode, stdout } = await runInProcess(["scanner-rules", ...args]);
      const pattern = new RegExp(stdout.trim());
      const [key = ""] = await issue("pay_live", byteLength, 1);
      expect([option, exitCode, pattern.exec(`KEY=${key}`)?.[0]]).toEqual([option, 0, key]);
    }
  });

  test("include the lowest and the highest body of each length, and exclude the next ones", () => {
    for (let byteLength = 16; byteLength <= 255; byteLength += 1) {
      const pattern = patternOf("k", byteLength);
      const { lowest, highest } = bodyRange(byteLength);
      expect([lowest, highest].every((body) => pattern.test(`k_${body}`))).toBe(true);
      const others = [`1${lowest}`, `${highest}z`, lowest.slice(1)];
      expect(others.filter((body) => pattern.test(`k_${body}`))).toEqual([]);
    }
  });

  test("are printed for gitleaks, as a bare pattern and for GitHub", async () => {
    const { stdout } = await runInProcess(["scanner-rules", "--prefix", "pay_live"]);
    expect(stdout).toMatch(
      /^\[\[rules\]\]\nid = "latchkey-pay-live"\ndescription = .*\nregex = '''.*'''\nsecretGroup = 1\nkeywords = \["pay_live_"\]\n$/,
    );
    const github = ["scanner-rules", "--prefix", "pay_live", "--format", "github"];
    expect((await runInProcess(github)).stdout).toMatch(
      /^Secret format: pay_live_Z.*\nBefore secret: .*\nAfter secret: .*\n$/,
    );
    for (const [args, message] of [
      [["--prefix", "pay_"], "--prefix must be 1 to 16 characters"],
      [["--prefix", "a".repeat(17)], "--prefix must be 1 to 16 characters"],
      [["--prefix", "a", "--byte-length", "15"], "--byte-length must be a whole number from 16"],
      [[], "--prefix is required"],
    ] as const) {
      const { exitCode, stderr } = await runInProcess(["scanner-rules", ...args]);
      expect(stderr).toContain(message);
      expect(exitCode).toBe(2);
    }
  });
});

describe("redact", () => {
  test.each([
    ["text", () => redact(undefined as never)],
    ["text", () => redact({ url: "/tiles" } as never)],
    ["prefixes", () => redact("", { prefixes: "sk_live" } as never)],
  ])("names the wrong argument: %s", (argument, call) => {
    expect(call).toThrow(TypeError);
    expect(call).toThrow(`"${argument}" must be a`);
  });

  test("refuses an option that it does not have", () => {
    const call = () => redact("sk_live_0123456789abcdef", { prefix: ["sk_live"] } as never);
    expect(call).toThrow(new TypeError('"prefix" is not an option of redact'));
    expect(["a", "b"].map(redact as never)).toEqual(["a", "b"]);
  });

  test("keeps the start of every key that lists show", async () => {
    for (const [prefix, byteLength] of [
      ["pay_live", 16],
      ["", 16],
      ["a-b", 24],
      ["k", 100],
      ["", 255],
    ] as const)
      for (const key of await issue(prefix, byteLength, 20)) {
        const shown = `${secretStart(key)}…`;
        expect(redact(key)).toBe(shown);
        expect(redact(`GET /tiles?key=${key}&x=1 "Bearer ${key}"`)).toBe(
          `GET /tiles?key=${shown}&x=1 "Bearer ${shown}"`,
        );
        expect(redact(JSON.stringify({ line: `\n${key}\n` }))).toBe(`{"line":"\\n${shown}\\n"}`);
      }
  });

  /** Text that may precede a secret, much of it ending in a letter or a digit. */
  const FRONTS = [
    ...["%3D", "%3d", "%2F", "%22", "%253D", "%25253d", "%u003D", "=3D", "%20Bearer%20"],
    ...["\\u003d", "\\u003D", "\\x3d", "\\075", "\\n", "\\t", "\\\\n", "\\/", "\\u0022", '\\"'],
    ...[
      "\u001b[31m",
      "\u001b[1;38;5;201m",
      "\u001b[0m",
      "\\u001b[31m",
      "\\u001B[K",
      "\\x1b[2m",
      "\\033[1m",
    ],
    ...["#033[31m", "^[[31m", "[0m", "%1B%5B31m", "%251b%255b0m", "\u009b31m", "\\U0000003d"],
    ...["\\e[36m", "&quot;", "&#61;", "&#x3D;", "\\u{3d}", "=", "/", "(", "…", "é", "\ud83d\ude00"],
  ];

  test.each(FRONTS)("finds keys with and without a prefix after %j", async (front) => {
    const forms = [
      ["pay_live", 16],
      ["", 16],
      ["", 24],
      ["", 64],
      ["", 255],
    ] as const;
    for (const [prefix, byteLength] of forms)
      for (const key of await issue(prefix, byteLength, 8))
        expect(redact(`GET /a?next=${front}${key}${front} 401`)).toBe(
          `GET /a?next=${front}${secretStart(key)}…${front} 401`,
        );
  });

  test("finds keys whose first letters look like the end of an escape", () => {
    for (let byteLength = 16; byteLength <= 255; byteLength += 1)
      for (const body of Object.values(bodyRange(byteLength)))
        for (const front of ["%", "=", "\\", "%25", "=2525", "\u001b["]) {
          const line = redact(`${front}${body}.`);
          expect(line.startsWith(front) && line.endsWith("….")).toBe(true);
          expect(line).not.toContain(body.slice(-10));
        }
  });

  test("finds a damaged key, and nothing else", async () => {
    const [key = ""] = await issue("pay_live", 16, 1);
    const damaged = replaceAt(key, key.length - 1, key.endsWith("2") ? "3" : "2");
    expect(redact(damaged)).toBe(`${secretStart(key)}…`);
    const others = [
      "key_11ShWf7rF113B2FsigQ732HdGV",
      "evt_11ShWf7rF113B2FsigQ732HdGV",
      "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
      "a".repeat(10_000),
      key.slice(0, -1),
    ].join(" ");
    expect(redact(others)).toBe(others);
  });

  test("finds keys of another format by their prefixes, and keeps the prefixes", () => {
    const line = "Bearer sk_live_abcdef0123456789 sk.live-abcdef012345 sk_live_short";
    expect(redact(line, { prefixes: ["sk_live"] })).toBe(
      "Bearer sk_live_… sk.live-abcdef012345 sk_live_short",
    );
  });

  test("finds keys of another format after escapes, and with escapes in them", () => {
    const secret = "sk_live_ab+cd/ef0123456789==";
    const prefixes = ["sk_live"];
    const forms = [
      secret,
      encodeURIComponent(secret),
      JSON.stringify(secret).slice(1, -1).replaceAll("/", "\\/"),
      secret.replace(/[+/=]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`),
    ];
    for (const form of forms)
      for (const front of FRONTS)
        expect(redact(`${front}${form}"`, { prefixes })).toBe(`${front}sk_live_…"`);
  });

  test("finds the shortest body at any place, whatever is around it", () => {
    const { lowest } = bodyRange(16);
    for (let at = 0; at < 3 * lowest.length; at += 1)
      for (const around of ["-", " 0", "OIl", "=3", "a ", "e. tides-"]) {
        const before = `${around.repeat(at).slice(0, at)}_`;
        expect(redact(`${before}${lowest}`)).toBe(`${before}${secretStart(lowest)}…`);
        expect(redact(`${before}${lowest}.${around}`)).toMatch(/…\./);
      }
  });

  test("changes nothing when it is applied again", async () => {
    const [key = ""] = await issue("pay_live", 16, 1);
    const prefixes = ["pay_live"];
    expect(redact(redact(key, { prefixes }), { prefixes })).toBe(`${secretStart(key)}…`);
  });

  test("recognises the lowest and the highest body of each length", () => {
    for (let byteLength = 16; byteLength <= 255; byteLength += 1) {
      const { lowest, highest } = bodyRange(byteLength);
      expect([lowest, highest].map(isSecretBody)).toEqual([true, true]);
    }
    expect(isSecretBody(bodyRange(256).lowest)).toBe(false);
    expect(isSecretBody("")).toBe(false);
  });
});
