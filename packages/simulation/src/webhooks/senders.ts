import type { Random } from "../random.js";
import type { Process } from "../world/process.js";
import type { Scheduler } from "../world/scheduler.js";
import { createSender, type ProcessSender, RECEIVERS } from "./sending.js";

/** The senders of webhooks of all processes, living and dead. */
export class Senders {
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #all: ProcessSender[] = [];
  #isOn = false;

  constructor(scheduler: Scheduler, random: Random) {
    this.#scheduler = scheduler;
    this.#random = random;
  }

  /** Gives a process a sender. `isMixed`: whether it may be one of an earlier version, which does not know all receivers. */
  add(process: Process, isMixed: boolean): void {
    const isEarlier = isMixed && this.#random.chance(40);
    const known = isEarlier ? RECEIVERS.slice(0, 1) : RECEIVERS;
    const { latchkey } = process;
    const sender = createSender(latchkey, this.#scheduler, () => process.isAlive, known);
    process.sender = sender;
    this.#all.push(sender);
    if (this.#isOn) void sender.keepStarted();
  }

  /** Starts or stops the senders of processes, also of those that start later. */
  turn(isOn: boolean, processes: readonly Process[]): void {
    this.#isOn = isOn;
    for (const { sender } of processes) void (isOn ? sender?.keepStarted() : sender?.stop());
  }

  /** Stops all that ever were. */
  stopAll(): void {
    for (const sender of this.#all) void sender.stop();
  }
}
