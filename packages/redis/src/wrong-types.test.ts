import { WORKSPACE } from "@latchkey/conformance";
import type { KeyStore } from "@latchkey/core";
import type { Redis } from "ioredis";
import { beforeAll, expect, test } from "vitest";
import { Names } from "./engine/names.js";
import { READS, WRITES } from "./testing/calls.js";
import { type Dump, dump, putBack } from "./testing/dump.js";
import { aKey, fill, type Keys, nameOf } from "./testing/one-of-everything.js";
import { openOwnStore } from "./testing/own-store.js";
import { describeWithServers } from "./testing/where.js";

/** Redis keys that only some calls create. */
const names = new Names("lk", WORKSPACE);
const NOT_YET = [names.recordsOf(aKey(4)), names.claims(nameOf(aKey(4)))];

/** The Redis keys of each call that refuse it if they have another type: all but those that it only deletes, or overwrites. */
const REFUSING: Readonly<Record<string, string>> = {
  "read by id": "r:identity r:key r:key r:key w",
  "read by name": "c:key r:identity r:key w",
  page: "l:keys r:identity r:key r:key r:key w",
  readStatistics: "v:api",
  holds: "e h r:key w",
  "commit a new key": "c:key e h l:audit l:keys r:api r:auditEntry r:key u w",
  "commit over a key": "e h r:key w",
  "commit a key that shares counters": "e h r:key r:key w",
  "commit an identity": "c:identity e h r:identity w",
  "commit a deletion": "c:key e h l:keys o:mm r:key w",
  "charge again": "q:key r:identity r:key w",
  charge: "p:free r:identity r:key w",
  "charge shared counters": "p:free r:identity r:key w",
  "charge that holds": "e h p:free r:identity r:key w",
  renew: "e h r:identity w",
  settle: "e h p:free r:identity w",
  "settle again": "f:rsv_2 h",
  "settle what is over": "e h p:free r:identity r:key w",
  addStatistics: "d r:identity r:key v:api",
  deleteStatistics: "d v:api w",
  forget: "",
};

describeWithServers("a value of another type at any Redis key", () => {
  let control: Redis;
  let store: KeyStore;
  let keys: Keys;
  let whole: Dump;

  beforeAll(async () => {
    const own = await openOwnStore();
    ({ control, store } = own);
    keys = await fill(store);
    whole = await dump(control);
    return own.close;
  });

  test.each([...READS, ...WRITES])(
    "%s is answered as before, or refused with nothing written",
    async (title, call) => {
      const refusing: string[] = [];
      for (const name of [...whole.keys(), ...NOT_YET]) {
        await control.del(name);
        await control.lpush(name, "planted");
        const before = await dump(control);
        const error = await call(store, keys).then(
          () => null,
          (reason: unknown) => reason,
        );
        if (error !== null) {
          refusing.push(name.replace(/^[^}]+}:/, "").replace(/^(.:[^:]+).*$/, "$1"));
          expect(error).toMatchObject({ code: "STORE_CORRUPT" });
          expect(await dump(control), name).toEqual(before);
        }
        await putBack(control, whole);
      }
      expect(refusing.toSorted().join(" ")).toBe(REFUSING[title]);
    },
  );
});
