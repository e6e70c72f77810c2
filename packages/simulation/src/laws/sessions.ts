import type { LatchkeyError } from "@latchkey/core";
import { type Call, type KnownKey, type KnownSession, returnedBy } from "../history.js";
import type { World } from "../world/world.js";
import { ENDING_OWNER } from "./many-keys.js";
import { possibleValues, type Register } from "./registers.js";
import { isWorkspaceOn } from "./settings.js";

/** What a call in a portal session told: it went on, the session was over, or the workspace was disabled. */
function answerOf(call: Call): "open" | "over" | "disabled" | null {
  const { outcome, args } = call;
  if (args.does === "end" || outcome.kind === "pending" || outcome.kind === "abandoned")
    return null;
  if (outcome.kind === "returned") {
    const { isOver } = returnedBy<{ readonly isOver: boolean }>(call);
    return isOver === true ? "over" : "open";
  }
  const { code, reason } = outcome.error as LatchkeyError;
  if (code === "UNAUTHORIZED") return "over";
  return reason === "workspace-disabled" ? "disabled" : null;
}

/** Whether a session exists. */
function existenceOf(world: World, { name, sessionId, workspace, owner }: KnownSession) {
  const isOfOwner = ({ action, workspace: where }: Call) =>
    ENDING_OWNER.has(action) && where === workspace && owner === 0;
  const register: Register<boolean> = {
    id: sessionId,
    initial: world.losses.some(({ ids }) => ids.has(sessionId)) ? [true, false] : [true],
    setters: world.calls.flatMap((call) => {
      if (call.args.session === name && call.args.does === "end") return [{ call, value: false }];
      // The identity of the session may be another one of the same name.
      return isOfOwner(call) ? [{ call, value: false, isSure: false }] : [];
    }),
  };
  return register;
}

/** Whether a key surely belongs to another owner all the time: no call moves it. */
function isOfAnother(world: World, key: KnownKey, owner: number): boolean {
  const isMoved = world.calls.some(
    ({ action, key: moved }) => action === "moveKey" && moved?.first === key.first,
  );
  const first = world.keys.find(({ name }) => name === key.first) ?? key;
  return !isMoved && first.setup.identity !== owner;
}

/** A session of a clock that was far ahead may be deleted after two hours by the clock of the store. */
const LONG_AGO_MS = 2 * 3_600_000;

/** Law: a portal session works exactly until it has expired, was ended or lost its identity, and shows no keys of others. */
export function sessionsHold(world: World): string | null {
  for (const call of world.calls) {
    const session = world.sessions.find(({ name }) => name === call.args.session);
    const answer = call.action === "session" ? answerOf(call) : null;
    if (session === undefined || answer === null) continue;
    const { name, expires, owner, workspace } = session;
    const seen = <Value>(register: Register<Value>) => possibleValues(register, call, world.losses);
    const exists = seen(existenceOf(world, session));
    const isOn = seen(isWorkspaceOn(world, workspace));
    const who = `#${call.index} in ${name}`;
    const isLongOver = call.endAt - session.madeAt >= LONG_AGO_MS;
    if (answer === "over" && !exists.includes(false) && expires > call.endNow && !isLongOver)
      return `${who} is told that it is over`;
    if (answer === "disabled" && !isOn.includes(false))
      return `${who} takes the workspace for disabled`;
    if (answer !== "open") continue;
    if (!exists.includes(true)) return `${who} goes on, although it was ended`;
    if (expires <= call.leastNow) return `${who} goes on, although it has expired`;
    if (!isOn.includes(true)) return `${who} goes on in a disabled workspace`;
    const { keyIds = [] } = returnedBy<{ readonly keyIds: readonly string[] }>(call);
    const other = world.keys.find(
      (key) => keyIds.includes(key.keyId) && isOfAnother(world, key, owner),
    );
    if (other !== undefined) return `${who} sees ${other.name}, which belongs to another`;
  }
  return null;
}
