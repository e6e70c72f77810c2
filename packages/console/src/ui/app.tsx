import type { ComponentChild } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { call, enter, leave, reachableStore, type Session, sessionStore } from "./lib/api.js";
import { focusPage } from "./lib/focus.js";
import { type Allowed, useAllowed } from "./lib/permissions.js";
import { linkTo, useRoute } from "./lib/router.js";
import { useStore } from "./lib/store.js";
import { ApiPage } from "./pages/api.js";
import { ApisPage } from "./pages/apis.js";
import { AuditPage } from "./pages/audit.js";
import { CheckPage } from "./pages/check.js";
import { DeadLettersPage } from "./pages/dead-letters.js";
import { HealthPage } from "./pages/health.js";
import { IdentitiesPage } from "./pages/identities.js";
import { IdentityPage } from "./pages/identity.js";
import { KeyPage } from "./pages/key.js";
import { KeysPage } from "./pages/keys.js";
import { RolesPage } from "./pages/roles.js";
import { RootKeysPage } from "./pages/root-keys.js";
import { SignInAgain, SignInPage } from "./pages/sign-in.js";
import { Failure, PageHead, Waiting } from "./parts/basics.js";

/** A page of the console: its path, its title, and who may see it. */
interface Page {
  readonly name: string;
  readonly title: string;
  readonly isFor: (allowed: Allowed) => boolean;
  readonly show: (id: string | undefined) => ComponentChild;
  /** Whether the list of pages contains it. Default: for everybody who may see it. */
  readonly isListed?: (allowed: Allowed) => boolean;
}

const PAGES: readonly Page[] = [
  {
    name: "",
    title: "Check a key",
    isFor: ({ canSome }) =>
      canSome("api", "read_key") ||
      canSome("api", "verify_key") ||
      canSome("identity", "read_identity"),
    show: () => <CheckPage />,
  },
  {
    name: "apis",
    title: "APIs",
    isFor: ({ canSome }) => canSome("api", "read_api"),
    show: (id) => (id === undefined ? <ApisPage /> : <ApiPage key={id} apiId={id} />),
  },
  {
    name: "keys",
    title: "Find keys",
    isFor: ({ canSome }) => canSome("api", "read_key"),
    show: (id) => (id === undefined ? <KeysPage /> : <KeyPage key={id} keyId={id} />),
    isListed: ({ can }) => can("api", "read_key") && can("api", "read_api"),
  },
  {
    name: "identities",
    title: "Owners",
    isFor: ({ can, canSome }) =>
      can("identity", "read_identity") || canSome("identity", "read_identity"),
    show: (id) =>
      id === undefined ? <IdentitiesPage /> : <IdentityPage key={id} identityId={id} />,
  },
  {
    name: "roles",
    title: "Roles and permissions",
    isFor: ({ can }) => can("rbac", "read_role") || can("rbac", "read_permission"),
    show: () => <RolesPage />,
  },
  {
    name: "audit",
    title: "Audit log",
    isFor: ({ can }) => can("audit", "read_audit"),
    show: () => <AuditPage />,
  },
  {
    name: "dead-letters",
    title: "Dead letters",
    isFor: ({ hasTask }) => hasTask("webhooks.listDeadLetters"),
    show: () => <DeadLettersPage />,
  },
  {
    name: "root-keys",
    title: "Root keys",
    isFor: ({ can }) => can("root", "read_root_key"),
    show: () => <RootKeysPage />,
  },
  { name: "store", title: "Store", isFor: () => true, show: () => <HealthPage /> },
];

/** The console, or its sign-in. */
export function App() {
  const state = useStore(sessionStore);
  switch (state.kind) {
    case "asking":
      return (
        <main class="sign-in">
          <Waiting />
        </main>
      );
    case "failed":
      return (
        <main class="sign-in">
          <h1>latchkey console</h1>
          <Failure error={state.error} retry={() => void enter()} />
        </main>
      );
    case "in":
      return <Console key={state.session.workspaceId} session={state.session} />;
    case "out":
      if (state.had === null) return <SignInPage signIn={state.signIn} />;
      return (
        <>
          <Console key={state.had.workspaceId} session={state.had} />
          <SignInAgain signIn={state.signIn} />
        </>
      );
    default:
      return state satisfies never;
  }
}

function Console({ session }: { readonly session: Session }) {
  const allowed = useAllowed();
  const route = useRoute();
  const [current = "", id] = route.path;
  const pages = PAGES.filter(({ isFor }) => isFor(allowed));
  const page = pages.find(({ name }) => name === current);
  const place = linkTo(route.path);
  const lastPlace = useRef(place);
  useLayoutEffect(() => {
    if (lastPlace.current === place) return;
    lastPlace.current = place;
    focusPage();
  }, [place]);
  useEffect(() => {
    // On a phone the list of pages is wider than the page.
    document
      .querySelector(".side [aria-current]")
      ?.scrollIntoView({ block: "nearest", inline: "nearest" });
    document.title = `${page?.title ?? "Not found"} · latchkey`;
  }, [page]);
  const isReachable = useStore(reachableStore);
  useEffect(() => {
    const ask = () => void call("readiness").catch(() => undefined);
    // Cached lists are shown without a request, so only this one notices that the server is gone.
    ask();
    if (isReachable) return undefined;
    const timer = setInterval(ask, 2_000);
    return () => clearInterval(timer);
  }, [place, isReachable]);
  return (
    <div class="console">
      <header class="side">
        <a class="skip" href={`${linkTo(route.path, route.query)}`} onClick={skipToMain}>
          Skip to content
        </a>
        <a class="brand" href={linkTo([])}>
          latchkey
        </a>
        <nav aria-label="Pages">
          {pages
            .filter(({ isListed }) => isListed?.(allowed) ?? true)
            .map(({ name, title }) => (
              <a
                key={name}
                href={linkTo(name === "" ? [] : [name])}
                aria-current={name === current ? "page" : undefined}
                // A link to the current page moves the focus to its beginning.
                onClick={() => name === current && id === undefined && focusPage()}
              >
                {title}
              </a>
            ))}
        </nav>
        <div class="who">
          <span class="cut" title={session.workspaceId}>
            {session.workspaceId}
          </span>
          <span class="cut faint" title={session.actor}>
            {session.actor ?? "signed in"}
          </span>
          {session.signIn !== "host" && (
            <button type="button" onClick={() => void leave()}>
              Sign out
            </button>
          )}
        </div>
      </header>
      <p class="unreachable" role="alert" hidden={isReachable}>
        {isReachable ? "" : "The server is not responding. What is shown here may be out of date."}
      </p>
      <main id="main" tabIndex={-1}>
        {page?.show(id) ?? (
          <PageHead
            title="Page not found"
            note={
              <span>
                The address is wrong, or you do not have permission to see this page.{" "}
                <a href={linkTo([])}>Go to the start page</a>.
              </span>
            }
          />
        )}
      </main>
    </div>
  );
}

function skipToMain(event: MouseEvent): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}
