import { enter, type SessionState, type SignIn } from "../lib/api.js";
import { ActionForm, Dialog } from "../parts/dialog.js";
import { TextField, textOf } from "../parts/fields.js";

const LINK_USED =
  "This link has already been used, or your session has ended. Run “latchkey console” again to get a new link.";

type Out = Extract<SessionState, { readonly kind: "out" }>;

/** The page before anybody has signed in. */
export function SignInPage({ signIn }: { readonly signIn: SignIn }) {
  return (
    <main class="sign-in">
      <h1 tabIndex={-1}>latchkey console</h1>
      {signIn === "link" ? <p>{LINK_USED}</p> : <SignInForm signIn={signIn} />}
    </main>
  );
}

/** The dialog over the page when a sign-in has ended. The typed text below it stays. */
export function SignInAgain({ signIn }: Pick<Out, "signIn">) {
  return (
    <Dialog title="You are signed out" onClose={() => undefined} isHeld losesNothing>
      <p>Nothing you typed is lost. Sign in to continue.</p>
      <SignInForm signIn={signIn} />
    </Dialog>
  );
}

function SignInForm({ signIn }: { readonly signIn: SignIn }) {
  if (signIn === "root-key")
    return (
      <ActionForm
        submit="Sign in"
        action={async (form) => {
          await enter(textOf(form, "rootKey") ?? "");
        }}
      >
        <TextField
          label="Root key"
          name="rootKey"
          type="password"
          required
          autofocus
          isWide
          hint="Kept only in the memory of this page, until you close or reload it."
        />
      </ActionForm>
    );
  return (
    <ActionForm submit="Try again" action={() => enter()}>
      <p>
        {signIn === "link"
          ? LINK_USED
          : "Sign in to the application that this console belongs to, and try again."}
      </p>
    </ActionForm>
  );
}
