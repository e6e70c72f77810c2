import { type KeyStore, LatchkeyError } from "@latchkey/core";
import type { Random } from "../random.js";
import { METHODS, type Method } from "./methods.js";
import type { Scheduler } from "./scheduler.js";
import type { StoreServer } from "./server.js";

/** How calls travel. `direct`: without a network, and the store's answer arrives in the same step if it is synchronous. */
export type Network = "direct" | "calm" | "rough";

/** Time after which a call without an answer fails, in ms. */
const CALL_TIMEOUT_MS = 1_000;

/** Methods that a full store refuses. */
const FILLING = { commit: true, addStatistics: true };

/** The parts of the world that the link of one process needs. */
export interface LinkContext {
  readonly scheduler: Scheduler;
  readonly server: StoreServer;
  /** The current network. */
  readonly network: () => Network;
  readonly random: Random;
  /** Index of the process; -1: not a process of the plan. */
  readonly process: number;
  /** Whether the process is alive. A dead one sends and receives nothing. */
  readonly isAlive: () => boolean;
  /** Gets what would end each call of a dead process, whose answer never comes. */
  readonly abandon?: (end: (error: Error) => void) => void;
}

/** The store as one process sees it, over a network that delays and loses messages. */
export function linkedStore(context: LinkContext): KeyStore {
  const { scheduler, server, network, random, process, isAlive, abandon } = context;
  let isClosed = false;

  function call(method: Method, args: readonly unknown[]): Promise<unknown> {
    if (!isAlive()) return new Promise((_, reject) => abandon?.(reject));
    if (isClosed) return Promise.reject(failed("the store is closed", "not-applied"));
    const fate = decideFate(network(), random);
    return new Promise((resolve, reject) => {
      const stopWaiting = scheduler.after(CALL_TIMEOUT_MS, random.next(), () => {
        if (isAlive()) reject(failed("no answer in time", "unknown"));
        else abandon?.(reject);
      });
      const settled =
        <Value>(settle: (value: Value) => void) =>
        (value: Value): void => {
          stopWaiting();
          settle(value);
        };
      const reply = (settle: () => void, afterMs = 0): void => {
        if (fate.isReplyLost) return;
        scheduler.after(fate.backMs + afterMs, random.next(), () => {
          if (isAlive()) settle();
        });
      };
      if (fate.isRequestLost) return;
      // A request that was sent arrives even if its sender is dead by then.
      scheduler.after(fate.thereMs, random.next(), () => {
        if (server.isDown) reply(() => settled(reject)(failed("the store is down", "not-applied")));
        else if (server.isFull && method in FILLING)
          reply(() => settled(reject)(failed("the store is full", "not-applied")));
        else {
          const { crashes } = server;
          // If the store crashes before a change is durable, its caller gets no answer.
          const ifUp = (settle: () => void) => () => {
            if (server.commitMs === 0 || server.crashes === crashes) settle();
          };
          const waitMs = method === "commit" ? server.commitMs : 0;
          server.call(method, args, process).then(
            (result) =>
              reply(
                ifUp(() => settled(resolve)(result)),
                waitMs,
              ),
            (error: unknown) => reply(() => settled(reject)(error)),
          );
        }
      });
    });
  }

  const route =
    (method: Method) =>
    (...args: readonly unknown[]): unknown =>
      network() === "direct" && isAlive()
        ? server.callAtOnce(method, args, process)
        : call(method, args);
  const routes = Object.fromEntries(METHODS.map((method) => [method, route(method)]));
  const close = async () => {
    isClosed = true;
  };
  return { ...routes, close } as unknown as KeyStore;
}

interface Fate {
  readonly thereMs: number;
  readonly backMs: number;
  readonly isRequestLost: boolean;
  readonly isReplyLost: boolean;
}

function decideFate(network: Network, random: Random): Fate {
  const isRough = network === "rough";
  const longMs = isRough ? 700 : 300;
  const delay = (): number => random.below(random.chance(isRough ? 10 : 3) ? longMs : 4);
  return {
    // Some requests arrive after their caller's timeout.
    thereMs: isRough && random.chance(2) ? random.below(2_000) : delay(),
    backMs: delay(),
    isRequestLost: isRough && random.chance(3),
    isReplyLost: isRough && random.chance(5),
  };
}

function failed(message: string, outcome: "unknown" | "not-applied"): LatchkeyError {
  return new LatchkeyError("STORE_UNAVAILABLE", message, { outcome });
}
