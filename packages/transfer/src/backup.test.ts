import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { memoryStore } from "@latchkey/memory";
import { sqliteStore } from "@latchkey/sqlite";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { backup } from "./backup.js";
import { restore } from "./restore.js";
import { assertArrived, type Filled, fill, latchkeyOn } from "./testing/fixture.js";
import { sealed } from "./testing/sealed.js";

const folder = mkdtempSync(join(tmpdir(), "latchkey-backup-"));
const whole = join(folder, "whole.lkb");
const store = memoryStore();
let filled: Filled;
let files = 0;

const aPath = () => join(folder, `${files++}.lkb`);

/** A file of some bytes. */
function aFile(bytes: Buffer): string {
  const path = aPath();
  writeFileSync(path, bytes);
  return path;
}

/** A backup of changed lines, with the end line recomputed to match. */
const resealed = (text: string) => sealed(text.split("\n").slice(0, -2));

const UNUSABLE = { code: "PRECONDITION_FAILED" };

beforeAll(async () => {
  filled = await fill(store);
  await backup(store, whole);
});

afterAll(() => rmSync(folder, { recursive: true }));

describe("a backup", () => {
  test("restores everything, including uses and units left", async () => {
    const to = sqliteStore(":memory:");
    const report = await restore(to, whole);
    expect(report.workspaces).toEqual(["ws_default", "ws_other"]);
    expect(report.counts).toMatchObject({ key: 9, auditEntry: 17, deadline: 1, window: 2 });
    await assertArrived(to, filled);
    await to.close();
  });

  test("is readable only by its owner, leaves no other file, and replaces none", async () => {
    expect(statSync(whole).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder).filter((name) => name.includes("partial"))).toEqual([]);
    await expect(backup(store, whole)).rejects.toMatchObject(UNUSABLE);
  });

  test("contains no plaintext secret", () => {
    const text = gunzipSync(readFileSync(whole)).toString();
    const { plain, counted, limited, rotated, recoverable, shared, rootKey, elsewhere } = filled;
    for (const secret of [
      plain,
      counted,
      limited,
      ...rotated,
      recoverable,
      shared,
      rootKey,
      elsewhere,
    ]) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(secret.split("_").at(-1));
    }
  });

  test("that is encrypted for a recipient can be opened by that identity and by no other", async () => {
    const identity = await generateX25519Identity();
    const path = aPath();
    const recipients = [await identityToRecipient(identity)];
    await backup(store, path, { encryption: { recipients } });
    const other = { decryption: { identity: await generateX25519Identity() } };
    for (const options of [{}, other])
      await expect(restore(memoryStore(), path, options)).rejects.toMatchObject(UNUSABLE);
    const bytes = readFileSync(path);
    bytes.writeUInt8((bytes.at(-20) as number) ^ 1, bytes.length - 20);
    const altered = restore(memoryStore(), aFile(bytes), { decryption: { identity } });
    await expect(altered).rejects.toMatchObject(UNUSABLE);
    const to = memoryStore();
    await restore(to, path, { decryption: { identity } });
    await assertArrived(to, filled);
  });

  test("ignores files that somebody else put beside it, and leaves none if it is refused or fails", async () => {
    const path = aPath();
    const [link, open, stolen] = [`${path}.partial`, `${path}.1.partial`, `${path}.stolen`];
    writeFileSync(stolen, "");
    writeFileSync(open, "");
    chmodSync(open, 0o666);
    symlinkSync(stolen, link);
    const before = readdirSync(folder);
    const broken = { ...store, scan: () => Promise.reject(new Error("the disk is gone")) };
    await expect(backup(broken, path)).rejects.toThrow("the disk is gone");
    let pages = 0;
    const page: typeof store.page = (...given) => {
      pages += 1;
      if (pages > 3) throw new Error("the network is gone");
      return store.page(...given);
    };
    await expect(backup({ ...store, page }, path)).rejects.toThrow("the network is gone");
    await expect(
      backup(store, path, { encryption: { recipients: ["age1none"] } }),
    ).rejects.toThrow();
    expect(readdirSync(folder)).toEqual(before);
    await backup(store, path);
    expect([readFileSync(stolen, "utf8"), readFileSync(open, "utf8")]).toEqual(["", ""]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toHaveLength(before.length + 1);
  });

  test("is written completely by one of two concurrent calls, and the other is refused", async () => {
    const path = aPath();
    const results = await Promise.allSettled([backup(store, path), backup(store, path)]);
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(results.find(({ status }) => status === "rejected")).toMatchObject({ reason: UNUSABLE });
    const to = memoryStore();
    await restore(to, path);
    await assertArrived(to, filled);
  });

  test("is never encrypted in a way that no restore could open", async () => {
    const path = aPath();
    const passphrase = "tiles and maps";
    for (const encryption of [
      { passphrase, workFactor: 21 },
      { passphrase, workFactor: 0 },
      { passphrase, workFactor: 1.5 },
      { passphrase: "" },
      { recipients: [] },
      { recipients: Array.from({ length: 101 }, () => "age1") },
    ])
      await expect(backup(store, path, { encryption })).rejects.toThrow(TypeError);
  });

  test("that is not encrypted is refused if a passphrase or identity was given", async () => {
    const to = memoryStore();
    for (const decryption of [
      { passphrase: "tiles and maps" },
      { identity: await generateX25519Identity() },
    ]) {
      const refused = restore(to, whole, { decryption });
      await expect(refused).rejects.toMatchObject(UNUSABLE);
      await expect(refused).rejects.toThrow("it is not encrypted, although");
    }
    expect(await to.scan(null, null)).toEqual({ names: [], next: null });
  });

  test("that is replaced during the restore does not open the store", async () => {
    const other = memoryStore();
    await fill(other);
    const [path, replacement] = [aFile(readFileSync(whole)), aPath()];
    await backup(other, replacement);
    const to = memoryStore();
    const replaced = () => {
      writeFileSync(path, readFileSync(replacement));
      return to;
    };
    await expect(restore(replaced, path)).rejects.toThrow("it was replaced while it was read");
    await expect(latchkeyOn(to).listApis()).rejects.toMatchObject({ reason: "incomplete" });
  });

  test("that is encrypted with a passphrase can be opened with it", async () => {
    const path = aPath();
    await backup(memoryStore(), path, {
      encryption: { passphrase: "tiles and maps", workFactor: 8 },
    });
    const wrong = { decryption: { passphrase: "tiles and mops" } };
    await expect(restore(memoryStore(), path, wrong)).rejects.toMatchObject(UNUSABLE);
    const right = { decryption: { passphrase: "tiles and maps" } };
    expect(await restore(memoryStore(), path, right)).toMatchObject({ workspaces: [] });
  });
});

describe("a store is not changed by a file", () => {
  /** Restores an unusable file, and asserts that it is refused and nothing was written. */
  async function assertRefused(path: string): Promise<void> {
    const to = memoryStore();
    await expect(restore(to, path)).rejects.toMatchObject(UNUSABLE);
    expect(await to.scan(null, null)).toEqual({ names: [], next: null });
  }

  test("that is cut off, at any point", async () => {
    const bytes = readFileSync(whole);
    for (let length = 0; length < bytes.length; length += 97)
      await assertRefused(aFile(bytes.subarray(0, length)));
    await assertRefused(aFile(bytes.subarray(0, -1)));
  });

  test("whose text is cut off at the end of a line", async () => {
    const lines = gunzipSync(readFileSync(whole)).toString().split("\n");
    for (const count of [0, 1, 2, lines.length - 2])
      await assertRefused(
        aFile(
          gzipSync(
            lines
              .slice(0, count)
              .map((line) => `${line}\n`)
              .join(""),
          ),
        ),
      );
  });

  test("with a line that was altered, left out, moved or added", async () => {
    const text = gunzipSync(readFileSync(whole)).toString();
    const lines = text.split("\n");
    const [one = "", two = ""] = lines.slice(4, 6);
    for (const altered of [
      text.replace('"usage":[3,', '"usage":[9,'),
      text.replace(`${one}\n`, ""),
      text.replace(`${one}\n${two}`, `${two}\n${one}`),
      `${text}${one}\n`,
      text.replace('"version":1', '"version":2'),
      text.replace("latchkey-backup", "other"),
    ]) {
      expect(altered).not.toBe(text);
      await assertRefused(aFile(gzipSync(altered)));
    }
  });

  test("that is something else", async () => {
    for (const bytes of [Buffer.from("{}"), gzipSync("{}\n"), gzipSync(""), Buffer.alloc(40)])
      await assertRefused(aFile(bytes));
  });
});

test("if keys are rotated during the backup of a serving store, they still share their counters after the restore", async () => {
  const from = memoryStore();
  const latchkey = latchkeyOn(from);
  const { apiId } = await latchkey.createApi({ name: "tiles" });
  const old = await latchkey.createKey({ apiId, remaining: 5 });
  // A file as a backup writes it during a rotation: with the old key and its uses as they were before.
  const before = aPath();
  await backup(from, before);
  const successor = await latchkey.rotateKey({ keyId: old.keyId, graceMs: 60_000 });
  await latchkey.verifyKey({ key: successor.key });
  const after = aPath();
  await backup(from, after);
  const [early, late] = [before, after].map((path) => gunzipSync(readFileSync(path)).toString());
  const lineOf = (text = "", id = "") =>
    text.split("\n").find((line) => line.startsWith(`{"kind":"key","id":"${id}"`)) ?? "";
  const body = (late ?? "").replace(lineOf(late, old.keyId), lineOf(early, old.keyId));
  const to = memoryStore();
  await restore(to, aFile(resealed(body)));
  const other = latchkeyOn(to);
  const codes = [];
  for (const key of [old.key, successor.key, old.key, successor.key, old.key])
    codes.push((await other.verifyKey({ key })).code);
  expect(codes).toEqual(["VALID", "VALID", "VALID", "VALID", "USAGE_EXCEEDED"]);
});
