import { areAllSent } from "../laws/webhooks.js";
import type { World } from "../world/world.js";
import { ACTIONS, type ActionName } from "./actions.js";

/** How long webhooks take at most until each event was taken or given up: retries, and a lease to run out. */
const SENDING_MS = 200_000;

async function sendTheRest(world: World): Promise<void> {
  const { receivers, scheduler, senders, processes } = world;
  receivers.manners.clear();
  // Processes of an earlier version end.
  if (world.plan.isMixed === true) for (const process of processes) senders.add(process, false);
  senders.turn(true, processes);
  const until = scheduler.now + SENDING_MS;
  while (!areAllSent(world) && scheduler.now < until) await scheduler.run(scheduler.now + 5_000);
  senders.turn(false, processes);
  await scheduler.run();
}

/**
 * Asks every process about every key and workspace, once no events are left and nothing fails any more. These calls are part of the
 * history, and the laws apply to them too.
 */
export async function askAtTheEnd(world: World): Promise<void> {
  await world.heal();
  // By then the time of every reservation has passed.
  if (world.reservations.length > 0) await world.scheduler.run(world.scheduler.now + 10_000);
  const { processes, keys, workspaces, plan } = world;
  // First, because it writes.
  for (const workspace of workspaces.keys())
    ACTIONS.notice.perform({ world, process: 0, action: "notice" }, { workspace, limit: 100 });
  await world.scheduler.run();
  if (plan.sends === true) await sendTheRest(world);
  for (const process of processes.keys()) {
    const ask = (action: ActionName, args: Readonly<Record<string, unknown>>): unknown =>
      ACTIONS[action].perform({ world, process, action }, args);
    const isItsTurn = (place: number): boolean => place % processes.length === process;
    for (const key of keys.keys()) {
      const permissions = [undefined, "read", "write"][(key + process + plan.seed) % 3];
      ask("verify", { key, cost: 0, ...(permissions !== undefined && { permissions }) });
      if (isItsTurn(key)) ask("getKey", { key });
      if (isItsTurn(key + plan.seed)) ask("readLog", { key });
    }
    for (const [drawn, { call }] of world.readers.entries())
      if (call !== null && process === 0) ask("readEvents", { drawn, isToTheEnd: true });
    for (const drawn of world.sessions.keys())
      if (isItsTurn(drawn)) ask("session", { does: "list", drawn, isKept: drawn % 2 === 0 });
    for (const drawn of world.rootKeys.keys())
      if (isItsTurn(drawn)) ask("rootKey", { does: "authenticate", drawn });
    for (const workspace of workspaces.keys())
      if (isItsTurn(workspace)) ask("listKeys", { workspace });
  }
  await world.scheduler.run();
  for (const { latchkey } of processes) void latchkey.close();
  await world.scheduler.run();
}
