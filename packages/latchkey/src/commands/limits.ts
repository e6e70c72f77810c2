import type { KeyStore, Latchkey } from "@latchkey/core";
import type { Command } from "commander";
import { UsageError } from "../command-line/failures.js";
import { FIELDS } from "../command-line/fields.js";
import { example } from "../command-line/help.js";
import type { Host } from "../command-line/host.js";
import { howText } from "../command-line/key-cells.js";
import {
  addCommonOptions,
  addInput,
  type CommonOptions,
  inputOf,
} from "../command-line/operations.js";
import { type Column, instant, minute, printRows } from "../command-line/output.js";
import { withLatchkey } from "../command-line/store-options.js";
import { spanText } from "../command-line/values.js";
import { readWindows, type WindowState } from "../command-line/windows.js";

const FIELDS_OF_IDENTITY = [
  { flags: "--identity-id <id>", text: "of an identity" },
  { ...FIELDS.externalId, text: "of an identity, by your own id" },
];

const COLUMNS: readonly Column<WindowState>[] = [
  { title: "NAME", of: ({ name }) => name },
  { title: "OF", of: ({ of }) => of },
  { title: "LIMIT", of: ({ limit }) => limit },
  { title: "WINDOW", of: (limit) => `${spanText(limit.duration)}${howText(limit)}` },
  { title: "LEFT", of: ({ remaining }) => remaining },
  {
    title: "ALL LEFT AT",
    of: ({ reset }) => instant(reset),
    inTable: ({ reset }) => minute(reset),
  },
];

/** Adds `latchkey limits`: the current state of the rate limits of a key or an identity. */
export function addLimits(program: Command, host: Host): void {
  const limits = program
    .command("limits")
    .description(
      "show what is left of the rate limits of a key and its identity, or of an identity",
    )
    .addHelpText(
      "after",
      example("latchkey limits <keyId>", "latchkey limits --external-id user_1"),
    );
  addCommonOptions(addInput(limits, ["[keyId]"], FIELDS_OF_IDENTITY)).action(async () => {
    const options = limits.opts<CommonOptions>();
    const { keyId, ...ids } = inputOf(limits, FIELDS_OF_IDENTITY, host) as {
      readonly keyId?: string;
    };
    const named = Object.keys(ids).length + (keyId === undefined ? 0 : 1);
    if (named !== 1)
      throw new UsageError("exactly one of <keyId>, --identity-id and --external-id is required");
    await withLatchkey(options, host, async (latchkey, store) => {
      const windows =
        keyId === undefined
          ? await windowsOfIdentity(latchkey, store, ids)
          : await windowsOfKey(latchkey, store, keyId);
      printRows(host, options, windows, COLUMNS);
    });
  });
}

async function windowsOfKey(
  latchkey: Latchkey,
  store: KeyStore,
  keyId: string,
): Promise<readonly WindowState[]> {
  const { workspaceId } = latchkey;
  const { ratelimits = [], identity } = await latchkey.getKey({ keyId });
  const owner = { kind: "key", id: keyId } as const;
  const own = await readWindows(store, workspaceId, owner, ratelimits, latchkey.now());
  if (identity === undefined) return own;
  const shared = await windowsOfIdentity(latchkey, store, { identityId: identity.id });
  return [...own, ...shared];
}

async function windowsOfIdentity(
  latchkey: Latchkey,
  store: KeyStore,
  ids: { readonly identityId?: string; readonly externalId?: string },
): Promise<readonly WindowState[]> {
  const { id, ratelimits } = await latchkey.getIdentity(ids);
  const owner = { kind: "identity", id } as const;
  return readWindows(store, latchkey.workspaceId, owner, ratelimits, latchkey.now());
}
