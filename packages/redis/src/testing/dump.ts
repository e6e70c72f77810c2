import { WORKSPACE } from "@latchkey/conformance";
import type { Redis } from "ioredis";

/**
 * Everything that a server holds of a workspace, by name, in a form that can be compared and put back. Without the Redis keys that find
 * root keys: those are written in steps of their own.
 */
export type Dump = ReadonlyMap<string, string>;

/** Takes a {@link Dump}. */
export async function dump(control: Redis): Promise<Dump> {
  const names = (await control.keys(`lk:{${WORKSPACE}}:*`)).toSorted();
  const values = await Promise.all(names.map((name) => control.dumpBuffer(name)));
  return new Map(names.map((name, number) => [name, values[number]?.toString("hex") ?? ""]));
}

/** Makes a server hold exactly this. */
export async function putBack(control: Redis, held: Dump): Promise<void> {
  await control.flushall();
  await Promise.all(
    [...held].map(([name, value]) => control.restore(name, 0, Buffer.from(value, "hex"))),
  );
}
