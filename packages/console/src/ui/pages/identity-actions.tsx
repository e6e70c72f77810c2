import { useState } from "preact/hooks";
import { call } from "../lib/api.js";
import { forgetLists } from "../lib/list.js";
import { actOnAll } from "../lib/owned-keys.js";
import { useAllowed } from "../lib/permissions.js";
import { go, linkTo } from "../lib/router.js";
import { mergedRules } from "../lib/rule-changes.js";
import type { Identity, Key } from "../lib/types.js";
import { plural } from "../lib/words.js";
import { Confirm } from "../parts/dialog.js";
import { AreaField, ChoiceField, numberOf, objectOf, TextField, textOf } from "../parts/fields.js";

/** Properties of the dialogs of an owner. */
export interface IdentityDialogProps {
  readonly identity: Identity;
  /** The loaded keys of the owner, as far as the operator may see them. */
  readonly keys: readonly Key[];
  /** Whether it has more keys, which were not loaded. */
  readonly hasMore: boolean;
  /** Whether these are all keys of the owner. */
  readonly isWhole: boolean;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Actions on all keys of an owner. */
const ACTS = {
  revoke: {
    operation: "deleteKeys",
    title: "Revoke",
    done: "revoked",
    what: "are deleted and stop working immediately. This cannot be undone. To stop them temporarily, disable them instead.",
  },
  off: {
    operation: "disableKeys",
    title: "Disable",
    done: "disabled",
    what: "stop working immediately; any that have expired or have no uses left are disabled too. They can be enabled again.",
  },
  on: {
    operation: "enableKeys",
    title: "Enable",
    done: "enabled",
    what: "work again immediately, except those that have expired or have no uses left.",
  },
} as const;

export type ActOnKeys = keyof typeof ACTS;

/** Deletes, disables or enables all keys of an owner. */
export function ActOnAllKeys({
  act,
  identity,
  keys,
  hasMore,
  isWhole,
  onClose,
  onDone,
  onActed,
}: IdentityDialogProps & {
  readonly act: ActOnKeys;
  /** Called with a description of what was done. */
  readonly onActed: (what: string) => void;
}) {
  const allowed = useAllowed();
  const { operation, title, done, what } = ACTS[act];
  const action = act === "revoke" ? "delete_key" : "update_key";
  const isEverywhere = allowed.can("api", action);
  // Those that the action concerns, as far as the operator may see them.
  const known = keys.filter(({ apiId }) => allowed.can("api", action, apiId));
  const canSee = (apiId: string) =>
    allowed.can("api", "read_api", apiId) && allowed.can("api", "read_key", apiId);
  const isCounted =
    isWhole || (!isEverywhere && !hasMore && allowed.idsOf("api", action).every(canSee));
  const count = isCounted ? plural(known.length, "key") : "keys";
  const submit = act === "revoke" && isCounted ? `${title} ${count}` : `${title} all keys`;
  const apis = plural(new Set(known.map(({ apiId }) => apiId)).size, "API");
  return (
    <Confirm
      title={`${submit}?`}
      submit={submit}
      isDangerous={act !== "on"}
      onClose={onClose}
      action={async () => {
        try {
          const acted = await actOnAll(operation, identity.id, allowed);
          onActed(`${plural(acted, "key")} of ${identity.externalId}: ${done}.`);
        } finally {
          onDone();
        }
      }}
    >
      <p>
        All {count} of <strong>{identity.externalId}</strong>
        {isCounted && ` in ${apis}`} {what}
        {!isEverywhere && " Keys in APIs where you may not do this stay as they are."} If it fails
        partway, repeat it: it continues where it stopped.
      </p>
    </Confirm>
  );
}

/** Deletes an owner, and deletes, disables or keeps its keys, as chosen. */
export function DeleteIdentity({
  identity,
  keys,
  isWhole,
  onClose,
  onErase,
}: IdentityDialogProps & { readonly onErase: (() => void) | undefined }) {
  const allowed = useAllowed();
  // The reversible choice is first, and the one that leaves the keys in use is last.
  const choices = [
    ...(allowed.can("api", "update_key")
      ? [["disable", "are disabled, and can be enabled again"] as const]
      : []),
    ...(allowed.can("api", "delete_key") ? [["delete", "are deleted"] as const] : []),
    ["unlink", "stay valid, without an owner"],
  ] as const;
  return (
    <Confirm
      title={`Delete ${identity.externalId}?`}
      submit="Delete owner"
      onClose={onClose}
      action={async (form) => {
        // Even if no keys were known: one may have been created since.
        const keysBecome = textOf(form, "keys") ?? choices[0][0];
        await call("identities.deleteIdentity", { identityId: identity.id, keys: keysBecome });
        forgetLists();
        go(linkTo(["identities"]));
      }}
    >
      <p>The limits and uses that its keys share are deleted. This cannot be undone.</p>
      {isWhole && keys.length === 0 ? (
        <p>It has no keys.</p>
      ) : (
        <ChoiceField
          label={isWhole ? `Its ${plural(keys.length, "key")}` : "All of its keys"}
          name="keys"
          choices={choices}
          value={choices[0][0]}
          isWide
        />
      )}
      {onErase !== undefined && (
        <p>
          The audit log keeps its name and its changes. To remove these as well,{" "}
          <button type="button" class="link" onClick={onErase}>
            erase it instead
          </button>
          .
        </p>
      )}
    </Confirm>
  );
}

/** Deletes an owner, its keys, and all data about it. */
export function EraseIdentity({ identity, keys, isWhole, onClose }: IdentityDialogProps) {
  const what = isWhole ? `its ${plural(keys.length, "key")}` : "all of its keys";
  return (
    <Confirm
      title={`Erase ${identity.externalId}?`}
      submit="Erase owner"
      onClose={onClose}
      action={async (form) => {
        if (textOf(form, "externalId") !== identity.externalId.trim())
          throw new Error("Type the owner exactly as shown above.");
        await call("identities.eraseIdentity", { identityId: identity.id });
        forgetLists();
        go(linkTo(["identities"]));
      }}
    >
      <p>
        {isWhole && keys.length === 0 ? "The owner is" : `The owner and ${what} are`} deleted. In
        the audit log, its name, metadata and other texts are overwritten. This cannot be undone. If
        it fails partway, repeat it: it continues where it stopped.
      </p>
      <TextField
        label={`Type ${identity.externalId} to confirm`}
        name="externalId"
        required
        isWide
      />
    </Confirm>
  );
}

/** Changes the settings that the keys of an owner share. */
export function EditIdentity({ identity: current, onClose, onDone }: IdentityDialogProps) {
  // The page may reload the owner, but the typed text refers to the owner as it was when the form was opened.
  const [identity] = useState(current);
  return (
    <Confirm
      title={`Edit ${identity.externalId}`}
      submit="Save"
      isDangerous={false}
      onClose={onClose}
      action={async (form) => {
        const remaining = numberOf(form, "remaining");
        const meta = objectOf(form, "meta", "Metadata") ?? {};
        const before = { meta: identity.meta ?? {} };
        // Fields that were not changed here may have been changed elsewhere since.
        const changesMeta = JSON.stringify(meta) !== JSON.stringify(before.meta);
        if (changesMeta) {
          const input = { identityId: identity.id };
          const now = await call<Identity>("identities.getIdentity", input);
          mergedRules(before, { meta }, before, { meta: now.meta ?? {} });
        }
        const changed = {
          ...(changesMeta && { meta }),
          ...(remaining !== identity.remaining && { remaining: remaining ?? null }),
        };
        if (Object.keys(changed).length > 0)
          await call("identities.updateIdentity", { identityId: identity.id, ...changed });
        onDone();
      }}
    >
      <TextField
        label="Uses left"
        name="remaining"
        type="number"
        min={0}
        defaultValue={identity.remaining ?? ""}
        hint="Shared by keys that take their uses from the owner. Empty means unlimited."
        isWide
      />
      <AreaField
        label="Metadata"
        name="meta"
        value={JSON.stringify(identity.meta ?? {}, null, 2)}
        hint="A JSON object."
      />
    </Confirm>
  );
}
