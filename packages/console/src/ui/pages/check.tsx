import { useState } from "preact/hooks";
import { ApiError, call } from "../lib/api.js";
import { isHarmless, isId, isMasked, keyStart, pastedKey } from "../lib/key-start.js";
import { useList } from "../lib/list.js";
import { useAllowed } from "../lib/permissions.js";
import { go, linkTo, useRoute } from "../lib/router.js";
import type { Identity, Key, Verdict } from "../lib/types.js";
import { Empty, PageHead } from "../parts/basics.js";
import { ActionForm } from "../parts/dialog.js";
import { TextField, textOf } from "../parts/fields.js";
import { keyColumns } from "../parts/key-list.js";
import { ListTable } from "../parts/table.js";
import { VerdictReport } from "../parts/verdict.js";

/** The first page for questions about a key: the pasted text leads to the page of the key, which says why it is refused. */
export function CheckPage() {
  const allowed = useAllowed();
  const { query } = useRoute();
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const canRead = allowed.canSome("api", "read_key");
  const canVerify = allowed.canSome("api", "verify_key");
  const canReadOwners = allowed.canSome("identity", "read_identity");

  const canList = allowed.can("api", "read_key") && allowed.can("api", "read_api");

  const find = async (form: FormData, element: HTMLFormElement | null) => {
    const text = pastedKey(textOf(form, "key") ?? "");
    setVerdict(null);
    if (/\s/.test(text))
      throw new Error("A key contains no spaces. To search by name, use Find keys.");
    if (isId(text)) {
      const folder = { key: "keys", api: "apis", id: "identities" }[text.split("_")[0] ?? ""];
      go(linkTo([folder ?? "", text]));
      return;
    }
    const start = canList ? keyStart(text) : undefined;
    if (start !== undefined && isMasked(text)) {
      go(linkTo([], { start }));
      return;
    }
    const found = await verdictOf(text, canRead, canVerify);
    if (typeof found === "string") go(linkTo(["keys", found]));
    // A text as short as a start is not expected to be a whole key.
    else if (found.code !== "NOT_FOUND" || start !== text) setVerdict(found);
    if (!isHarmless(text)) element?.reset();
    if (typeof found !== "string")
      go(linkTo([], { start: found.code === "NOT_FOUND" ? start : "" }));
  };

  return (
    <>
      <PageHead title="Check a key" />
      <div class="columns">
        {(canRead || canVerify) && (
          <section class="card">
            <h2>Why is it refused?</h2>
            <WithForm>
              {(element) => (
                <ActionForm submit="Check" action={(form) => find(form, element())}>
                  <TextField
                    label="Key, its first characters, or its id"
                    name="key"
                    required
                    autofocus
                    isWide
                    onInput={({ currentTarget }) => {
                      currentTarget.type = isHarmless(currentTarget.value) ? "text" : "password";
                    }}
                    hint="The key that your customer sends, its first characters as shown in a log, or the id of a key, an API or an owner. A key is sent only to your own server. Checking it consumes nothing, and it is not stored."
                  />
                </ActionForm>
              )}
            </WithForm>
          </section>
        )}
        {canReadOwners && (
          <section class="card">
            <h2>Find an owner</h2>
            <ActionForm
              submit="Find owner"
              action={async (form) => {
                const externalId = textOf(form, "externalId") ?? "";
                setVerdict(null);
                go(await placeOfOwner(externalId));
              }}
            >
              <TextField
                label="Your own id for the owner, or part of it"
                name="externalId"
                required
                isWide
                hint="Such as user_1. The owner’s page lists all of its keys, and you can revoke them there."
              />
            </ActionForm>
          </section>
        )}
      </div>
      {verdict !== null && <VerdictReport verdict={verdict} />}
      {query.start && canList && <KeysLike start={query.start} from={query.from} />}
    </>
  );
}

/** Keys of all APIs that may start like this. */
function KeysLike({ start, from }: { readonly start: string; readonly from: string | undefined }) {
  const list = useList<Key>({ operation: "keys.listKeys", field: "keys", input: { start }, from });
  return (
    <>
      <h2>
        Keys that begin with <code>{start}</code>
      </h2>
      <p class="faint">
        Only the first characters of a key are stored, so it may be any of these, or one that was
        deleted.
      </p>
      <ListTable
        label="Keys that begin with these characters"
        list={list}
        columns={ALL_COLUMNS}
        empty={
          <Empty title="No key begins with these characters">
            <p>
              It was deleted, belongs to another workspace, or is not a latchkey key. To search by
              owner or name, use “Find an owner” or <a href={linkTo(["keys"])}>Find keys</a>.
            </p>
          </Empty>
        }
      />
    </>
  );
}

const ALL_COLUMNS = keyColumns("API", "Owner");

/** The page of the owner with exactly this external id, or the list of owners whose id contains it. */
async function placeOfOwner(externalId: string): Promise<string> {
  try {
    const { id } = await call<Identity>("identities.getIdentity", { externalId });
    return linkTo(["identities", id]);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return linkTo(["identities"], { externalIdContains: externalId });
  }
}

const isNotFound = (error: unknown) => error instanceof ApiError && error.code === "NOT_FOUND";

/** Gives its children access to their form, so that it can be emptied after a secret in it was sent. */
function WithForm({
  children,
}: {
  readonly children: (form: () => HTMLFormElement | null) => preact.ComponentChild;
}) {
  const [box, setBox] = useState<HTMLDivElement | null>(null);
  return <div ref={setBox}>{children(() => box?.querySelector("form") ?? null)}</div>;
}

/** The id of the key, or a verdict if the operator may see no more. */
async function verdictOf(
  key: string,
  canRead: boolean,
  canVerify: boolean,
): Promise<string | Verdict> {
  if (!canVerify)
    try {
      return (await call<{ id: string }>("keys.whoami", { key })).id;
    } catch (error) {
      if (!isNotFound(error)) throw error;
      return { valid: false, code: "NOT_FOUND" };
    }
  const verdict = await call<Verdict>("keys.verifyKey", { key, dryRun: true });
  return (canRead && verdict.keyId) || verdict;
}
