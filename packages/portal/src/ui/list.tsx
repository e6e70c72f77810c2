import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { PortalClient, PortalError, PortalKey, PortalState } from "../client.js";
import { UsageChart } from "./chart.js";
import { asPortalError, Failure, useSetting } from "./parts.js";
import { stateOf, when } from "./words.js";

/** An action on a key. */
export type Act = "rename" | "rotate" | "revoke";

/** The keys of one API. */
export function KeyList({
  client,
  api,
  allow,
  round,
  isHidden,
  onRead,
  onAct,
}: {
  readonly client: PortalClient;
  readonly api: { readonly id: string; readonly name: string };
  readonly allow: NonNullable<PortalState["session"]>["allow"];
  /** A changed number reloads the keys. */
  readonly round: number;
  readonly isHidden: boolean;
  /** Called with the number of keys that count, after each attempt to read them. */
  readonly onRead: (count: number) => void;
  readonly onAct: (act: Act, key: PortalKey) => void;
}) {
  const { texts, Heading, onOver } = useSetting();
  const [keys, setKeys] = useState<readonly PortalKey[] | null>(null);
  const [cursor, setCursor] = useState<string | undefined>(undefined);
  const [error, setError] = useState<PortalError | null>(null);
  const [isReading, setIsReading] = useState(false);
  const latest = useRef(0);
  const load = async (from?: string) => {
    latest.current += 1;
    const turn = latest.current;
    setError(null);
    setIsReading(true);
    let known = from === undefined ? [] : (keys ?? []);
    try {
      const page = await client.listKeys({
        apiId: api.id,
        limit: 100,
        ...(from !== undefined && { cursor: from }),
      });
      // A later request was sent meanwhile, so this answer is outdated.
      if (turn !== latest.current) return;
      known = [...known, ...page.keys];
      setKeys(known);
      setCursor(page.cursor);
    } catch (failure) {
      if (turn !== latest.current) return;
      const refusal = asPortalError(failure);
      if (refusal.code === "UNAUTHORIZED") onOver();
      else setError(refusal);
    }
    setIsReading(false);
    // Keys that were rotated do not count.
    onRead(known.filter(({ rotatedTo }) => rotatedTo === undefined).length);
  };
  useEffect(() => void load(), [api.id, round]);
  return (
    <section aria-label={api.name} tabIndex={-1} hidden={isHidden}>
      {allow.apis.length > 1 && <Heading>{api.name}</Heading>}
      {error !== null && <Failure error={error} retry={() => load()} />}
      {keys === null && error === null && <p class="soft">{texts.loading} …</p>}
      {keys?.length === 0 && (
        <div class="empty">
          <p>
            <strong>{texts.empty}</strong>
          </p>
          <p>{allow.create ? texts.emptyHint : texts.emptyReadOnly}</p>
        </div>
      )}
      {keys !== null && keys.length > 0 && (
        <ul>
          {keys.map((key) => (
            <KeyCard key={key.id} portalKey={key} client={client} allow={allow} onAct={onAct} />
          ))}
        </ul>
      )}
      {cursor !== undefined && (
        <button type="button" aria-disabled={isReading} onClick={() => isReading || load(cursor)}>
          {texts.more}
        </button>
      )}
    </section>
  );
}

function KeyCard({
  client,
  portalKey: key,
  allow,
  onAct,
}: {
  readonly client: PortalClient;
  readonly portalKey: PortalKey;
  readonly allow: NonNullable<PortalState["session"]>["allow"];
  readonly onAct: (act: Act, key: PortalKey) => void;
}) {
  const { texts, language, now } = useSetting();
  const [hasUsage, setHasUsage] = useState(false);
  const card = useRef<HTMLLIElement>(null);
  // A revoked key disappears together with the button that had the focus.
  useLayoutEffect(() => {
    const element = card.current;
    return () => element?.matches(":focus-within") && element.closest("section")?.focus();
  }, []);
  const name = key.name ?? texts.unnamed;
  const state = stateOf(key, { texts, language }, now());
  const instant = (at: number | undefined) =>
    at === undefined ? (
      texts.never
    ) : (
      <time dateTime={new Date(at).toISOString()} title={new Date(at).toISOString()}>
        {when(at, language, now())}
      </time>
    );
  const isReplaced = key.rotatedTo !== undefined;
  const button = (act: Act, text: string, isOffered: boolean) =>
    isOffered && (
      <button type="button" aria-label={`${text}: ${name}`} onClick={() => onAct(act, key)}>
        {text}
      </button>
    );
  return (
    <li ref={card}>
      <div class="head">
        <strong>{name}</strong>
        <span class={`state ${state.tone}`}>{state.text}</span>
        <code>{key.start}…</code>
      </div>
      <dl>
        <div>
          <dt>{texts.created}</dt>
          <dd>{instant(key.createdAt)}</dd>
        </div>
        <div>
          <dt>{texts.lastUsed}</dt>
          <dd>{instant(key.lastUsedAt)}</dd>
        </div>
        <div>
          <dt>{texts.expires}</dt>
          <dd>{instant(key.expires ?? key.idleExpiresAt)}</dd>
        </div>
        {key.remaining !== undefined && (
          <div>
            <dt>{texts.usesLeft}</dt>
            <dd>{new Intl.NumberFormat(language).format(key.remaining)}</dd>
          </div>
        )}
        {key.permissions.length > 0 && (
          <div class="wide">
            <dt>{texts.permissions}</dt>
            <dd>{key.permissions.join(", ")}</dd>
          </div>
        )}
      </dl>
      <div class="acts">
        {button("rename", texts.rename, allow.create)}
        {button("rotate", texts.rotate, allow.rotate && key.canRotate && !isReplaced)}
        {button("revoke", texts.revoke, allow.revoke)}
        <button
          type="button"
          aria-expanded={hasUsage}
          aria-label={`${texts.usage}: ${name}`}
          onClick={() => setHasUsage(!hasUsage)}
        >
          {texts.usage}
        </button>
      </div>
      {allow.rotate && !key.canRotate && !isReplaced && <p class="soft">{texts.cannotRotate}</p>}
      {hasUsage && <UsageChart client={client} portalKey={key} />}
    </li>
  );
}
