import type { KeyStore, LatchkeyEvent } from "@latchkey/core";
import { expect, test } from "vitest";
import { describeOnEveryStore } from "../every-store.js";
import { issue } from "../test-context.js";
import { wrapped } from "../wrapped-store.js";

/** A store that runs `before` before its commit at this place, from 1 on. */
function pausing(store: KeyStore, place: number, before: () => Promise<unknown>): KeyStore {
  let commits = 0;
  return wrapped(store, {
    commit: async (workspaceId, change) => {
      commits += 1;
      if (commits === place) await before();
      return store.commit(workspaceId, change);
    },
  });
}

/** A promise that resolves once it is sent. */
function signal() {
  let send = (): void => undefined;
  const sent = new Promise<void>((resolve) => {
    send = resolve;
  });
  return { sent, send };
}

describeOnEveryStore("events of a write with an idempotencyKey", (open) => {
  test("only the process that made the change emits its event, even if both began it", async () => {
    const context = open();
    const { keyId } = await issue(context, { remaining: 5 });
    const input = { keyId, op: "increment", value: 3, idempotencyKey: "once" } as const;
    const [hasMadeChange, otherHasEnded] = [signal(), signal()];
    const emitted: LatchkeyEvent[] = [];
    const onEvent = (event: LatchkeyEvent) => emitted.push(event);
    // The first commit makes the change, and the second one remembers the result.
    const first = context.another({
      onEvent,
      store: pausing(context.store, 2, async () => {
        hasMadeChange.send();
        await otherHasEnded.sent;
      }),
    });
    let answer: Promise<unknown> = Promise.resolve();
    const second = context.another({
      onEvent,
      store: pausing(context.store, 1, async () => {
        answer = first.updateRemaining(input);
        await hasMadeChange.sent;
      }),
    });
    expect(await second.updateRemaining(input)).toEqual({ remaining: 8 });
    otherHasEnded.send();
    expect(await answer).toEqual({ remaining: 8 });
    const { events } = await context.latchkey.listAuditEvents({ keyId });
    const logged = events.filter(({ type }) => type === "key.updated");
    expect(emitted).toEqual(logged.map((event) => ({ ...event, durationMs: 0 })));
  });
});
