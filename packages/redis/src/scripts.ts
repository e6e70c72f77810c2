import { hash } from "node:crypto";
import { SCRIPT_TEXTS } from "./lua/scripts.generated.js";

/** One atomic operation, as it is sent to Redis. */
export interface Script {
  readonly text: string;
  /** What Redis knows the text by. */
  readonly sha1: string;
  /** Whether a lost answer leaves open if something was written. */
  readonly isWrite: boolean;
}

type ScriptName = keyof typeof SCRIPT_TEXTS;

const READS: ReadonlySet<ScriptName> = new Set([
  "findKeyHash",
  "findRootKey",
  "findRootKeyWorkspace",
  "findVerificationDays",
  "getApi",
  "getIdentity",
  "getPermission",
  "getRole",
  "getVerifications",
  "getWorkspace",
  "listApis",
  "listChanges",
  "listDeletableKeys",
  "listIdentities",
  "listKeys",
  "listPermissions",
  "listRoles",
  "listRootKeys",
  "listVerificationDays",
  "loadKeys",
] as const);

/** Every script by the name of its file. */
export const SCRIPTS: { readonly [Name in ScriptName]: Script } = Object.fromEntries(
  Object.entries(SCRIPT_TEXTS).map(([name, text]) => {
    const isWrite = !READS.has(name as ScriptName);
    return [name, { text, sha1: hash("sha1", text), isWrite }];
  }),
) as { [Name in ScriptName]: Script };
