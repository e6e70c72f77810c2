import type { ChangeLog, ChangeRecord, LoggedChange } from "@latchkey/core";
import { plain } from "./key-names.js";

/** The entries of a log as scripts take them: what they look at, and the rest in one text. */
export function logArguments(log: ChangeLog): readonly string[] {
  return entries(log, ({ change, ifCreated }) => (ifCreated ? change.resourceId : ""));
}

/** The same for entries of which each is written only with the deletion of one key. */
export function deletionArguments(
  keyIds: readonly string[],
  entryOf: ((keyId: string) => LoggedChange) | null,
): readonly string[] {
  if (entryOf === null) return logArguments([]);
  return entries(keyIds.map(entryOf), (_, number) => keyIds[number] ?? "");
}

/** An actor as key names hold it: callers name themselves as they like. */
export function actorName(actor: string): string {
  return plain(actor);
}

function entries(
  log: ChangeLog,
  onlyWith: (entry: LoggedChange, number: number) => string,
): readonly string[] {
  return [
    String(log.length),
    ...log.flatMap((entry, number) => {
      const { id, keyId, identityId, actor } = entry.change;
      return [
        id,
        onlyWith(entry, number),
        keyId ?? "",
        identityId ?? "",
        actor === null ? "" : actorName(actor),
        encodeRest(entry.change),
      ];
    }),
  ];
}

function encodeRest({ type, at, actor, resourceId, fields }: ChangeRecord): string {
  return JSON.stringify({ type, at, actor, resourceId, fields });
}
