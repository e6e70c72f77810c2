import { useState } from "preact/hooks";
import { ApiError, call } from "../lib/api.js";
import { useAllowed } from "../lib/permissions.js";
import { go, linkTo } from "../lib/router.js";
import type { Identity, Verdict } from "../lib/types.js";
import { PageHead } from "../parts/basics.js";
import { ActionForm } from "../parts/dialog.js";
import { TextField, textOf } from "../parts/fields.js";
import { VerdictReport } from "../parts/verdict.js";

/** Where an operator begins who is asked about a key: what is pasted leads to its page, and that says why it is refused. */
export function CheckPage() {
  const allowed = useAllowed();
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const canRead = allowed.canSome("api", "read_key");
  const canVerify = allowed.canSome("api", "verify_key");
  const canReadOwners = allowed.canSome("identity", "read_identity");

  const find = async (form: FormData, element: HTMLFormElement | null) => {
    const text = textOf(form, "key") ?? "";
    setVerdict(null);
    if (/\s/.test(text))
      throw new Error("A secret has no spaces. Look for a key by its name under Find keys.");
    if (/^(?:key|api|id)_[A-Za-z0-9]+$/.test(text)) {
      const folder = { key: "keys", api: "apis", id: "identities" }[text.split("_")[0] ?? ""];
      go(linkTo([folder ?? "", text]));
      return;
    }
    const found = await verdictOf(text, canRead, canVerify);
    element?.reset();
    if (typeof found === "string") go(linkTo(["keys", found]));
    else setVerdict(found);
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
                    label="Key, or id of a key"
                    name="key"
                    type="password"
                    required
                    autofocus
                    isWide
                    hint="What your customer sends, or the id of a key, an API or an owner. A key goes to your own server only. Checking it uses nothing up, and it is not kept."
                  />
                </ActionForm>
              )}
            </WithForm>
          </section>
        )}
        {canReadOwners && (
          <section class="card">
            <h2>Whose is it?</h2>
            <ActionForm
              submit="Find owner"
              action={async (form) => {
                const externalId = textOf(form, "externalId") ?? "";
                setVerdict(null);
                go(await placeOfOwner(externalId));
              }}
            >
              <TextField
                label="Your own id of the owner, or a part of it"
                name="externalId"
                required
                isWide
                hint="Such as user_1: all keys of an owner are on the owner’s page, and can be revoked there at once."
              />
            </ActionForm>
          </section>
        )}
      </div>
      {verdict !== null && <VerdictReport verdict={verdict} />}
    </>
  );
}

/** The page of the owner with exactly this id of yours, or those with a part of it. */
async function placeOfOwner(externalId: string): Promise<string> {
  try {
    const { id } = await call<Identity>("identities.getIdentity", { externalId });
    return linkTo(["identities", id]);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "NOT_FOUND") throw error;
    return linkTo(["identities"], { externalIdContains: externalId });
  }
}

/** The form in it, to be emptied once a secret in it was sent. */
function WithForm({
  children,
}: {
  readonly children: (form: () => HTMLFormElement | null) => preact.ComponentChild;
}) {
  const [box, setBox] = useState<HTMLDivElement | null>(null);
  return <div ref={setBox}>{children(() => box?.querySelector("form") ?? null)}</div>;
}

/** The id of the key, or a verdict where that is all that the operator may see. */
async function verdictOf(
  key: string,
  canRead: boolean,
  canVerify: boolean,
): Promise<string | Verdict> {
  if (!canVerify) return (await call<{ id: string }>("keys.whoami", { key })).id;
  const verdict = await call<Verdict>("keys.verifyKey", { key, dryRun: true });
  return (canRead && verdict.keyId) || verdict;
}
