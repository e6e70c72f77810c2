import { useEffect, useMemo, useState } from "preact/hooks";
import type { PortalClient, PortalError, PortalKey, PortalState } from "../client.js";
import { ENGLISH, type Texts } from "../texts.js";
import { CreateDialog, RenameDialog, RevokeDialog, RotateDialog } from "./dialogs.js";
import { type Act, KeyList } from "./list.js";
import {
  asPortalError,
  Dialog,
  Failure,
  SecretDialog,
  type Setting,
  SettingContext,
} from "./parts.js";
import { directionOf, fill } from "./words.js";

/** The dialog over the list. */
type Open = { readonly kind: "create" } | { readonly kind: Act; readonly key: PortalKey } | null;

/** A key that was just created. Its secret, unless it was lost, is shown only to this customer. */
interface Created {
  readonly secret: string | undefined;
  readonly externalId: string | undefined;
}

/** The page: the customer and their keys. Typed text stays when a session ends. */
export function App({
  client,
  isPage,
  host,
  secret: given,
}: {
  readonly client: PortalClient;
  readonly isPage: boolean;
  readonly host: HTMLElement;
  /** The secret of a link. */
  readonly secret: string | undefined;
}) {
  const [state, setState] = useState<PortalState | null>(null);
  const [error, setError] = useState<PortalError | null>(null);
  const [isOver, setIsOver] = useState(false);
  const [isStillOver, setIsStillOver] = useState(false);
  const [open, setOpen] = useState<Open>(null);
  const [created, setCreated] = useState<Created | null>(null);
  const [round, setRound] = useState(0);
  const [done, setDone] = useState("");
  // A list stays hidden until those above it are read, because a late one would push it down.
  const [read, setRead] = useState<ReadonlyMap<string, number>>(new Map());

  const begin = async (linkSecret?: string) => {
    setError(null);
    try {
      let now = linkSecret === undefined ? await client.session() : null;
      if (now === null || (now.session === null && now.signIn === "host"))
        now = await client.start(linkSecret).catch(async (failure: unknown) => {
          if (asPortalError(failure).code !== "UNAUTHORIZED") throw failure;
          // An earlier session may belong to another customer.
          return now ?? { ...(await client.session()), session: null };
        });
      enter(now);
    } catch (failure) {
      setError(asPortalError(failure));
    }
  };
  // Runs again if a new link is opened in the page of an old one.
  useEffect(() => void begin(given), [given]);

  const enter = (now: PortalState) => {
    setState(now);
    if (now.session === null) return;
    setIsOver(false);
    setRound((before) => before + 1);
    if (!state?.session || state.session.externalId === now.session.externalId) return;
    // A dialog that one customer has opened must not be used by another, nor its outcome be announced to them.
    setOpen(null);
    setDone("");
  };

  /** Starts a new session after the old one ended while the page was open. */
  const goOn = async () => {
    setIsStillOver(false);
    try {
      const now = await (state?.signIn === "link" ? client.session() : client.start());
      if (now.session === null) setIsStillOver(true);
      else enter(now);
    } catch {
      setIsStillOver(true);
    }
  };

  const language = state?.language ?? "en";
  const texts: Texts = useMemo(() => ({ ...ENGLISH, ...state?.texts }), [state]);
  useEffect(() => {
    for (const [name, value] of Object.entries(state?.variables ?? {}))
      (isPage ? document.documentElement : host).style.setProperty(name, value);
    host.lang = language;
    host.dir = directionOf(language);
  }, [state]);
  const ahead = useMemo(() => (state?.now ?? Date.now()) - Date.now(), [state]);
  const setting: Setting = {
    texts,
    language,
    now: () => Date.now() + ahead,
    Heading: isPage ? "h2" : "h3",
    onOver: () => setIsOver(true),
    onStale: () => setRound((before) => before + 1),
  };

  const session = state?.session ?? null;
  const close = () => setOpen(null);
  const finish = (text: string) => {
    setOpen(null);
    setDone(text);
    setRound(round + 1);
  };
  const show = (secret: string | undefined, text: string) => {
    finish(text);
    setCreated({ secret, externalId: session?.externalId });
  };
  const maxKeys = session?.allow.maxKeys ?? Number.POSITIVE_INFINITY;
  const counts = session?.allow.apis.map(({ id }) => read.get(id) ?? 0) ?? [];
  const isFull = counts.reduce((sum, count) => sum + count, 0) >= maxKeys;
  const refuseMore = () => {
    setDone(fill(texts.errorTooMany, { limit: `${maxKeys}` }));
    // Keys may have been revoked elsewhere, such as in another tab.
    setRound(round + 1);
  };
  const Title = isPage ? "h1" : "h2";
  return (
    <SettingContext.Provider value={setting}>
      <div class="all">
        <header>
          <div>
            <Title>{texts.title}</Title>
            {session !== null && <p class="soft">{texts.intro}</p>}
          </div>
          {session?.allow.create === true && (
            <button
              type="button"
              class="primary"
              // Not `disabled`, so that it keeps the focus, and explains itself when it is pressed.
              aria-disabled={isFull}
              onClick={() => (isFull ? refuseMore() : setOpen({ kind: "create" }))}
            >
              {texts.create}
            </button>
          )}
        </header>
        <p class="done" role="status">
          {done}
        </p>
        {error !== null && <Failure error={error} retry={() => begin(given)} />}
        {state === null && error === null && <p class="soft">{texts.loading} …</p>}
        {state !== null && session === null && (
          <div class="empty">
            <p>{state.signIn === "link" ? texts.signInLink : texts.signInHost}</p>
            {state.signInUrl !== undefined && <a href={state.signInUrl}>{texts.signIn}</a>}
          </div>
        )}
        {session?.allow.apis.map((api, at, apis) => (
          <KeyList
            key={`${session.externalId} ${api.id}`}
            isHidden={apis.slice(0, at).some(({ id }) => !read.has(id))}
            onRead={(count) => setRead((before) => new Map(before).set(api.id, count))}
            client={client}
            api={api}
            allow={session.allow}
            round={round}
            onAct={(kind, key) => setOpen({ kind, key })}
          />
        ))}
        {open?.kind === "create" && session !== null && (
          <CreateDialog
            client={client}
            allow={session.allow}
            onClose={close}
            onCreated={(key) => show(key, texts.doneCreated)}
          />
        )}
        {open?.kind === "rename" && (
          <RenameDialog
            client={client}
            portalKey={open.key}
            onClose={close}
            onRenamed={() => finish(texts.doneRenamed)}
          />
        )}
        {open?.kind === "rotate" && (
          <RotateDialog
            client={client}
            portalKey={open.key}
            onClose={close}
            onRotated={(key) => show(key, texts.doneRotated)}
          />
        )}
        {open?.kind === "revoke" && (
          <RevokeDialog
            client={client}
            portalKey={open.key}
            onClose={close}
            onRevoked={() => finish(texts.doneRevoked)}
          />
        )}
        {created !== null && created.externalId === session?.externalId && (
          <SecretDialog secret={created.secret} onClose={() => setCreated(null)} />
        )}
        {isOver && (
          <Dialog title={texts.overTitle} onClose={() => setIsOver(false)}>
            <p>{state?.signIn === "link" ? texts.overLink : texts.overHost}</p>
            {isStillOver && (
              <p class="failure" role="alert">
                {texts.overStill}
              </p>
            )}
            <div class="end">
              <button type="button" onClick={() => setIsOver(false)}>
                {texts.cancel}
              </button>
              <button type="button" class="primary" onClick={goOn}>
                {texts.continue}
              </button>
            </div>
          </Dialog>
        )}
      </div>
    </SettingContext.Provider>
  );
}
