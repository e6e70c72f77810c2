import type { ApiPatch, ApiRecord } from "@latchkey/core";
import { damaged, flag, json, list, object, readStored, safe, text, whole } from "./values.js";

/**
 * Reads the five lines of an API: version, protection, name, addresses, the rest.
 *
 * @throws LatchkeyError `STORE_CORRUPT` when a value is not one that could have been written.
 */
export function apiRecord(workspaceId: string, id: string, stored: unknown): ApiRecord {
  return readStored("api", id, () => {
    const [version, protection, name, addresses, rest, ...more] = text(stored).split("\n");
    if (more.length > 0) damaged();
    return {
      id,
      workspaceId,
      name: text(json(name)),
      deleteProtection: flag(protection),
      ipWhitelist: list(json(addresses), text),
      createdAt: safe(object(json(rest)).createdAt, 0),
      version: whole(version),
    };
  });
}

/** The opposite of {@link apiRecord}, line by line. */
export function encodeApi(api: ApiRecord): string {
  const rest = JSON.stringify({ createdAt: api.createdAt });
  return [api.version, ...encodeApiPatch(api), rest].join("\n");
}

/** Protection, name and addresses as scripts take them; "" for what stays as it is. */
export function encodeApiPatch(patch: ApiPatch): readonly [string, string, string] {
  const { name, deleteProtection, ipWhitelist } = patch;
  return [
    deleteProtection === undefined ? "" : deleteProtection ? "1" : "0",
    name === undefined ? "" : JSON.stringify(name),
    ipWhitelist === undefined ? "" : JSON.stringify(ipWhitelist),
  ];
}
