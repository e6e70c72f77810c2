import type { Random } from "../random.js";
import type { Manner } from "../webhooks/receivers.js";
import { RECEIVERS } from "../webhooks/sending.js";
import type { World } from "../world/world.js";
import type { Action } from "./action.js";

type Chosen =
  | { readonly does: "answer"; readonly host: string; readonly manner: Manner }
  | { readonly does: "start" | "stop" }
  | { readonly does: "redeliver"; readonly drawn: number };

function choose(random: Random): Chosen {
  const does = random.weighted({ answer: 8, start: 2, stop: 2, redeliver: 2 });
  if (does === "redeliver") return { does, drawn: random.below(1_000) };
  if (does !== "answer") return { does };
  const { host } = random.pick(RECEIVERS);
  return { does, host, manner: random.pick(["takes", "takes", "full", "gone", "hangs", "resets"]) };
}

async function redeliver(world: World, process: number, drawn: number): Promise<unknown> {
  const sender = world.processes[process]?.sender;
  const { deadLetters = [] } = (await sender?.listDeadLetters()) ?? {};
  const { deadLetterId = "" } = deadLetters[drawn % Math.max(1, deadLetters.length)] ?? {};
  return deadLetterId === "" ? "there is no dead letter" : sender?.redeliver({ deadLetterId });
}

/** Changes how a receiver answers; starts and stops senders; sends dead letters again. Only in schedules that send webhooks. */
export const WEBHOOK_ACTIONS: { readonly webhooks: Action } = {
  webhooks: {
    weight: 25,
    choose: (random) => ({ ...choose(random) }),
    perform: ({ world, process, action }, args) => {
      const chosen = args as unknown as Chosen;
      const sender = world.processes[process]?.sender;
      if (sender == null) return;
      if (chosen.does === "answer") {
        world.receivers.manners.set(chosen.host, chosen.manner);
        world.tell(() => `${chosen.host} answers: ${chosen.manner}`);
        return;
      }
      world.call({ process, action, args, workspace: 0, key: null }, () => {
        if (chosen.does === "redeliver") return redeliver(world, process, chosen.drawn);
        return chosen.does === "start" ? sender.keepStarted() : sender.stop();
      });
    },
  },
};
