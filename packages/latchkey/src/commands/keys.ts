import { type Latchkey, labelsOf } from "@latchkey/core";
import { UsageError } from "../command-line/failures.js";
import { CHANGE_OF_USES, FIELDS, type Field, span } from "../command-line/fields.js";
import { type AddCommand, groupCommand } from "../command-line/help.js";
import { keyCells, remainingCells, type ShownKey, stateText } from "../command-line/key-cells.js";
import {
  type Input,
  listCommand,
  operationCommand,
  updateText,
} from "../command-line/operations.js";
import { type Column, day, instant } from "../command-line/output.js";
import { isoDateOrAge, isoDateOrSpan, list, wholeNumber } from "../command-line/values.js";
import { keysCommand } from "./many-keys.js";

const BYTE_LENGTH: Field = {
  flags: "--byte-length <n>",
  text: "random bytes of the secret, 16 to 255",
  read: wholeNumber("--byte-length", 16, 255),
};

/** One option for each label of a key, such as `--name <text>`. */
const LABELS: readonly Field[] = Object.values(
  labelsOf((label, { length: [min, max], about }) => ({
    flags: `--${label} <text>`,
    text: `${about.slice(0, 1).toLowerCase()}${about.slice(1, -1)}: ${min} to ${max} characters`,
  })),
);

/** Settings of a new key. */
const FIRST_SETTINGS: readonly Field[] = settingsWith(FIELDS.firstRemaining);

/** Settings of an existing key. */
const SETTINGS: readonly Field[] = settingsWith(FIELDS.remaining);

const GRACE: Field = {
  flags: "--grace <span>",
  field: "graceMs",
  text: "how long the old secret stays valid, such as 1d (default: not at all)",
  read: span("--grace"),
};

/** Filters of `keys find`. */
const FILTERS: readonly Field[] = [
  FIELDS.apiId,
  FIELDS.externalId,
  { flags: "--identity-id <id>", text: "id of an identity, instead of --external-id" },
  {
    flags: "--start <text>",
    text: "what the secret begins with, as shown in a log",
    read: (typed) => typed.slice(0, 32),
  },
  {
    flags: "--enabled <yes|no>",
    text: "no: switched off, not started, expired or used up",
    words: ["yes", "no"],
    of: (word) => word === "yes",
  },
  ...range("expires", "30d from now", isoDateOrSpan),
  ...range("used", "90d ago", isoDateOrAge),
  ...range("created", "7d ago", isoDateOrAge),
  { flags: "--name-contains <text>", text: "a part of the name, ignoring case" },
  {
    flags: "--permission <name>",
    text: "a permission that a verification would grant the key",
  },
  { flags: "--role <name>", text: "a role that it has" },
  { flags: "--environment <text>", text: "its environment" },
  {
    flags: "--tags <list>",
    text: "tags, separated by commas; the key has all of them",
    read: list,
  },
  {
    flags: "--order-by <field>",
    text: "sort field (default: createdAt); others need --api-id or a user, with at most 2,000 keys",
    words: ["createdAt", "expires", "lastUsedAt"],
  },
  { flags: "--order <order>", text: "sort order (default: asc)", words: ["asc", "desc"] },
];

/** `--used-before <when>` and `--used-after <when>`. */
function range(what: string, span: string, read: typeof isoDateOrAge): readonly Field[] {
  return ["before", "after"].map((side) => ({
    flags: `--${what}-${side} <when>`,
    text: side === "before" ? `before this time: ${span}, or an ISO date` : "at this time or later",
    read: read(`--${what}-${side}`),
  }));
}

const COLUMNS: readonly Column<ShownKey>[] = [
  { title: "ID", of: ({ id }) => id },
  { title: "START", of: ({ start }) => start, isWhole: true },
  {
    title: "STATE",
    of: ({ state }) => state,
    inTable: ({ state, expires }) => {
      if (expires === undefined || state === "disabled") return state;
      if (state === "expired") return `expired ${day(expires)}`;
      // Not "no uses left until", which would name the day of a refill.
      return `${state}${state === "enabled" ? " until" : ", expires"} ${day(expires)}`;
    },
  },
  {
    title: "LEFT",
    of: ({ remaining }) => remaining ?? "unlimited",
    inTable: ({ remaining }) => remaining,
  },
  { title: "EXPIRES", of: ({ expires }) => instant(expires) ?? "never", inTable: null },
  {
    title: "LAST USED",
    of: ({ lastUsedAt }) => instant(lastUsedAt),
    inTable: ({ lastUsedAt }) => day(lastUsedAt),
  },
  { title: "EXTERNAL ID", of: ({ identity }) => identity?.externalId },
  { title: "NAME", of: ({ name }) => name },
];

const COMMANDS = [
  operationCommand({
    name: "create",
    text: "issue a key and print its id and its secret, which is shown only once",
    operation: "createKey",
    args: ["<apiId>"],
    fields: [
      { flags: "--prefix <text>", text: "the part of the secret before the _" },
      BYTE_LENGTH,
      { flags: "--create", text: "create the --roles and --permissions that do not exist" },
      { flags: "--recoverable", text: "keep the secret, encrypted; needs LATCHKEY_VAULT_KEY" },
      ...FIRST_SETTINGS,
    ],
    use: "durable",
    print: ({ keyId, key }) => [
      ["keyId", keyId],
      ["key", key],
    ],
  }),
  listCommand({
    text: "list the keys of an API",
    args: ["<apiId>"],
    fields: [FIELDS.externalId],
    page: listPage,
    columns: () => COLUMNS,
  }),
  listCommand({
    name: "find",
    text: "find keys of all APIs, of one API or of a user, by their settings and their use",
    fields: FILTERS,
    page: listPage,
    columns: () => [...COLUMNS, { title: "API ID", of: ({ apiId }) => apiId, inTable: null }],
  }),
  operationCommand({
    name: "get",
    text: "show a key",
    operation: "getKey",
    args: ["<keyId>"],
    fields: [{ flags: "--decrypt", text: "show the secret of a recoverable key too" }],
    also: async (latchkey, key) => {
      const { checks } = await latchkey.explainKey({ keyId: key.id });
      const isOn = checks.every(({ check, passed }) => check !== "enabled" || passed);
      return { state: stateText(key, isOn, latchkey.now()) };
    },
    print: (key) => keyCells(key as ShownKey),
  }),
  operationCommand({
    name: "update",
    text: "change a key; omitted settings stay unchanged",
    operation: "updateKey",
    args: ["<keyId>"],
    fields: SETTINGS,
    canClear: true,
    completed: keepDefaultLimit,
    print: (_, { keyId }, outcome) => updateText(`key ${keyId}`, outcome),
  }),
  operationCommand({
    name: "update-many",
    text: "change up to 100 keys alike, all of them or none; omitted settings stay unchanged",
    operation: "updateKeys",
    fields: [
      { flags: "--keys <list>", text: "the keys, by their ids", field: "keyIds", read: list },
      ...SETTINGS,
    ],
    canClear: true,
    completed: refuseLosingDefaultLimit,
    print: (_, { keyIds }, outcome) => {
      const { length } = keyIds as readonly string[];
      return updateText(length === 1 ? "1 key" : `each of ${length} keys`, outcome);
    },
  }),
  operationCommand({
    name: "update-remaining",
    text: "set, increase or decrease the uses left of a key, exact even during verifications",
    operation: "updateRemaining",
    args: ["<keyId>"],
    fields: CHANGE_OF_USES,
    print: remainingCells,
  }),
  keysCommand({
    name: "disable",
    text: "switch a key off, or all keys of a user or an API, so that they no longer verify",
    does: "switches off",
    one: "updateKey",
    settings: { enabled: false },
    many: "disableKeys",
  }),
  keysCommand({
    name: "enable",
    text: "switch a key on again, or all keys of a user or an API",
    does: "switches on",
    one: "updateKey",
    settings: { enabled: true },
    many: "enableKeys",
  }),
  operationCommand({
    name: "rotate",
    text: "replace a key with one that has a new secret, and print it; it is shown only once",
    operation: "rotateKey",
    args: ["<keyId>"],
    fields: [GRACE],
    print: ({ keyId, key }) => [
      ["keyId", keyId],
      ["key", key],
    ],
  }),
  keysCommand({
    name: "delete",
    text: "delete a key, or all keys of a user or an API",
    does: "deletes",
    one: "deleteKey",
    many: "deleteKeys",
  }),
];

async function listPage(latchkey: Latchkey, input: Input) {
  const { keys, ...page } = await latchkey.listKeys(input, { forExport: true });
  const now = latchkey.now();
  // Of the stored fields, only whether the key was switched off.
  const items = keys.map(({ stored, ...key }) => ({
    ...key,
    state: stateText(key, stored?.enabled ?? key.enabled, now),
  }));
  return { items, ...page };
}

/** Adds `latchkey keys`: issues and manages keys. */
export const addKeys: AddCommand = groupCommand(
  "keys",
  "create, list, find, show, change, rotate and delete keys",
  [
    "latchkey keys create <apiId> --prefix pay_live --remaining 1000 --refill daily:1000",
    "latchkey keys list <apiId> --external-id user_1 --json",
    "latchkey keys find --enabled yes --used-before 90d",
    "latchkey keys get <keyId> --json",
    "latchkey keys update <keyId> --expires 30d --clear name",
    "latchkey keys update-many --keys <keyId>,<keyId> --expires 30d",
    "latchkey keys update-remaining <keyId> --op increment --value 500",
    "latchkey keys disable --external-id user_1",
    "latchkey keys enable <keyId>",
    "latchkey keys rotate <keyId> --grace 1d",
    "latchkey keys delete <keyId> --yes",
  ],
  COMMANDS,
);

function settingsWith(remaining: Field): readonly Field[] {
  return [
    ...LABELS,
    FIELDS.externalId,
    FIELDS.meta,
    FIELDS.tags,
    FIELDS.ipWhitelist,
    FIELDS.roles,
    FIELDS.permissions,
    FIELDS.expires,
    FIELDS.startsAt,
    FIELDS.expiresWhenUnused,
    remaining,
    FIELDS.refill,
    FIELDS.ratelimit,
    FIELDS.ratelimits,
    FIELDS.usesFrom,
  ];
}

/** `ratelimits` in an update replaces all limits of a key. The one named default has its own option, and stays if that is not given. */
async function keepDefaultLimit(latchkey: Latchkey, input: Input): Promise<Input> {
  if (!leavesDefaultLimit(input)) return {};
  const kept = (await latchkey.getKey({ keyId: input.keyId as string })).ratelimit;
  return kept === undefined ? {} : { ratelimit: kept };
}

/** For many keys, the limit named default cannot stay, because all of them get the same limits. */
async function refuseLosingDefaultLimit(latchkey: Latchkey, input: Input): Promise<Input> {
  if (!leavesDefaultLimit(input)) return {};
  for (const keyId of (input.keyIds ?? []) as readonly string[])
    if ((await latchkey.getKey({ keyId })).ratelimit !== undefined)
      throw new UsageError(
        `--ratelimits sets all limits of a key, and ${keyId} has the limit default: also give --ratelimit, or --clear ratelimit`,
      );
  return {};
}

function leavesDefaultLimit({ ratelimit, ratelimits }: Input): boolean {
  const names = (ratelimits ?? []) as readonly { readonly name: string }[];
  return (
    ratelimits !== undefined &&
    ratelimit === undefined &&
    !names.some(({ name }) => name === "default")
  );
}
