import { createLatchkey, type KeyStore, type Latchkey } from "@latchkey/core";
import type {
  Call,
  KeySetup,
  KnownKey,
  KnownReservation,
  KnownRootKey,
  KnownSession,
  Loss,
  Outcome,
} from "../history.js";
import type { Plan } from "../plan/plan.js";
import { Random } from "../random.js";
import { Receivers } from "../webhooks/receivers.js";
import { Senders } from "../webhooks/senders.js";
import { createSender } from "../webhooks/sending.js";
import { createKey, createWorkspace, type KnownWorkspace, type MadeKey } from "./beginning.js";
import { enter } from "./host.js";
import { type LinkContext, linkedStore, type Network } from "./link.js";
import { moveKeys } from "./move.js";
import type { Process } from "./process.js";
import { type Reader, readersOf } from "./readers.js";
import { BEGIN_AT, Scheduler, type Stores } from "./scheduler.js";
import { idsOf, type StepLaws, StoreServer } from "./server.js";
import { asText, describe } from "./story.js";

/** The processes, their network and their store, and the history of all calls. */
export class World {
  readonly scheduler: Scheduler;
  readonly plan: Plan;
  server: StoreServer;
  readonly keys: KnownKey[] = [];
  readonly workspaces: KnownWorkspace[] = [];
  readonly calls: Call[] = [];
  readonly losses: Loss[] = [];
  readonly reservations: KnownReservation[] = [];
  readonly rootKeys: KnownRootKey[] = [];
  readonly sessions: KnownSession[] = [];
  readonly readers: readonly Reader[];
  readonly receivers: Receivers;
  /** Events after this tick must reach the receivers of webhooks. */
  sendingSince = Number.POSITIVE_INFINITY;
  readonly senders: Senders;
  /** What would end the calls of dead processes. */
  readonly #abandoned: ((error: Error) => void)[] = [];
  readonly processes: Process[] = [];
  /** Tick after the last step, when the final questions begin. */
  restTick = Number.POSITIVE_INFINITY;
  /** Rejections that were not handled. */
  readonly unhandled: readonly unknown[];
  hasDamaged = false;
  /** Why a move did not finish, although nothing failed any more; null: it did, or there was none. */
  unfinished: string | null = null;
  readonly #laws: StepLaws;
  /** Finishes a move that has begun; null: no move is under way. */
  #finishMove: (() => Promise<void>) | null = null;
  /** Called when a move is about to fence the old store, before the request is sent. */
  atFence: (() => void) | null = null;
  /** Called with each call that has ended. */
  atEnd: ((call: Call) => void) | null = null;
  /** Whether a process was killed. */
  hasKilled = false;
  /** How many verifications were decided by leases. */
  leased = 0;
  /** The story, line by line. */
  readonly story: string[] = [];
  #network: Network;
  readonly #isTold: boolean;
  readonly #random: Random;

  constructor(plan: Plan, laws: StepLaws, isTold: boolean, stores?: Stores) {
    this.scheduler = new Scheduler(stores);
    this.#isTold = isTold;
    this.unhandled = enter(this.scheduler);
    this.plan = plan;
    this.readers = readersOf(plan.workspaces.length);
    this.#laws = laws;
    this.#network = plan.network;
    this.#random = new Random(plan.seed ^ 0x5eed);
    const onTheWay = new Random(plan.seed ^ 0x90057);
    this.receivers = new Receivers(
      this.scheduler,
      onTheWay,
      () => this.#network,
      this.tell.bind(this),
    );
    this.senders = new Senders(this.scheduler, this.#random);
    this.server = new StoreServer(this.scheduler, plan.flushMs, laws);
    for (let index = 0; index < plan.processes; index += 1)
      this.processes.push(this.#start(index, plan.clockOffsets[index] ?? 0));
  }

  /** Ends all failures, and finishes a move that is under way. */
  async heal(): Promise<void> {
    if (this.#network === "rough") this.#network = "calm";
    this.server.downUntil = 0;
    this.server.fullUntil = 0;
    await this.#finishMove?.();
  }

  /** Whether nothing in this schedule can keep a call from its answer. */
  get isCalm(): boolean {
    const troubles = ["stopStore", "fillStore", "failOver", "moveStore"];
    const { network, steps } = this.plan;
    return network !== "rough" && !steps.some(({ action }) => troubles.includes(action));
  }

  isDamaged(key: KnownKey | null): boolean {
    const { id } = this.workspaceOf(key?.workspace ?? 0);
    return this.server.model.at(id).damaged.has(key?.keyId ?? "");
  }

  tell(line: () => string): void {
    if (!this.#isTold) return;
    const at = this.scheduler.now - BEGIN_AT;
    this.story.push(`${String(at).padStart(8)} ms  ${line()}`);
  }

  #wire(server: StoreServer): Pick<LinkContext, "scheduler" | "server" | "random"> {
    return { scheduler: this.scheduler, server, random: new Random(this.#random.next()) };
  }

  #start(index: number, clockOffset: number): Process {
    const ms = this.plan.leases?.[index] ?? null;
    const started = { isAlive: true, clockOffset, latest: 0 };
    const isAlive = (): boolean => process.isAlive;
    const store = linkedStore({
      ...this.#wire(this.server),
      process: index,
      network: () => this.#network,
      isAlive,
      abandon: (end) => this.#abandoned.push(end),
    });
    const latchkey = createLatchkey({
      store,
      workspaceId: "ws_0",
      clock: () => {
        // A clock never shows an instant before the epoch.
        const now = Math.max(0, this.scheduler.now + process.clockOffset);
        process.latest = Math.max(process.latest, now);
        return now;
      },
      random: (size) => this.#random.bytes(size),
      maxCachedKeys: this.plan.cachedKeys,
      onError: () => undefined,
      ...(ms !== null && {
        leases: { ms, share: 1 },
        onEvent: (event) => {
          if ("leased" in event) this.leased += 1;
        },
      }),
    });
    const bound = new Map([[0, latchkey]]);
    const process: Process = { ...started, latchkey, sender: null, bound };
    if (this.plan.sends === true) this.senders.add(process, this.plan.isMixed === true);
    return process;
  }

  /** Writes the initial state of the schedule. */
  async prepare(): Promise<void> {
    const { scheduler, server, plan } = this;
    const random = new Random(702);
    const network = (): Network => "direct";
    const isAlive = (): boolean => true;
    const founder = createLatchkey({
      store: linkedStore({ scheduler, server, network, random, process: -1, isAlive }),
      clock: () => scheduler.now,
      random: (size) => random.bytes(size),
      workspaceId: "ws_0",
      usage: false,
    });
    for (const [index, setup] of plan.workspaces.entries())
      this.workspaces.push(await createWorkspace(founder.workspace(`ws_${index}`), setup));
    for (const { workspace, ...setup } of plan.keys)
      await this.createKey(founder.workspace(`ws_${workspace}`), workspace, setup);
    if (plan.sends === true) {
      const sender = createSender(founder, scheduler, isAlive);
      await sender.start();
      await sender.stop();
    }
    server.begin();
    this.sendingSince = scheduler.nextTick();
  }

  /** Creates a key. @returns Its name. */
  async createKey(
    latchkey: Latchkey,
    workspace: number,
    setup: KeySetup,
    idempotencyKey?: string,
  ): Promise<string> {
    const { apiId } = this.workspaceOf(workspace);
    const made = await createKey(latchkey, apiId, setup, idempotencyKey);
    return this.learnKey(made, { workspace, setup }, null);
  }

  /** Notes a new key. @returns Its name, or if only a repeat of the call returned it, its id, because its secret is lost. */
  learnKey(
    { keyId, key: secret }: MadeKey,
    known: Pick<KnownKey, "workspace" | "setup">,
    origin: KnownKey["origin"],
  ): string {
    if (secret === undefined) return this.keys.find((one) => one.keyId === keyId)?.name ?? keyId;
    const name = `k${this.keys.length}`;
    this.keys.push({ name, keyId, secret, ...known, origin, first: origin?.key.first ?? name });
    return name;
  }

  /** Notes the reservation in a verdict. A repeat returns the same reservation, and is not noted again. */
  learnReservation<Verdict extends object>(key: KnownKey, call: Call, verdict: Verdict): Verdict {
    const { reservationId: id, expiresAt = 0 } = verdict as {
      readonly reservationId?: string;
      readonly expiresAt?: number;
    };
    if (id !== undefined && !this.reservations.some((known) => known.id === id))
      this.reservations.push({ id, key, call, expiresAt });
    return verdict;
  }

  /** Ends the senders of dead processes. Otherwise they would count as senders of this program for ever. */
  async end(): Promise<void> {
    this.senders.stopAll();
    while (this.#abandoned.length > 0) {
      for (const end of this.#abandoned.splice(0)) end(new Error("the world has ended"));
      await this.scheduler.run(this.scheduler.now);
    }
  }

  workspaceOf(index: number): KnownWorkspace {
    return this.workspaces[index] as KnownWorkspace;
  }

  /** Id of another workspace. */
  elsewhere(index: number): string {
    return this.workspaces[this.elsewhereOf(index)]?.id ?? "ws_of_nobody";
  }

  /** Index of another workspace, even if the plan has only one. */
  elsewhereOf(index: number): number {
    return index === 0 ? 1 : 0;
  }

  /** The latchkey of a process in a workspace. */
  latchkeyOf({ latchkey, bound }: Process, workspace: number): Latchkey {
    const known = bound.get(workspace);
    if (known !== undefined) return known;
    const made = latchkey.workspace(this.workspaceOf(workspace).id);
    bound.set(workspace, made);
    return made;
  }

  /** Makes a call in a process, and records its outcome. */
  call(
    about: Pick<Call, "process" | "action" | "args" | "workspace" | "key">,
    perform: (latchkey: Latchkey, call: Call) => Promise<unknown>,
  ): void {
    const process = this.processes[about.process] as Process;
    const { action, args, workspace, key } = about;
    // Named one by one: an object that starts as a copy of another takes much longer to fill.
    const call: Call = {
      process: about.process,
      action,
      args,
      workspace,
      key,
      index: this.calls.length,
      startTick: this.scheduler.nextTick(),
      startAt: this.scheduler.now,
      startNow: this.clockOf(process),
      leastNow: this.#leastOf(process),
      endNow: Number.POSITIVE_INFINITY,
      endTick: Number.POSITIVE_INFINITY,
      endAt: Number.POSITIVE_INFINITY,
      outcome: { kind: "pending" },
    };
    this.calls.push(call);
    const target = about.key === null ? "" : ` ${about.key.name}`;
    this.tell(
      () => `p${about.process} calls #${call.index} ${about.action}${target} ${asText(about.args)}`,
    );
    const end = (outcome: Outcome): void => {
      if (call.outcome.kind !== "pending") return;
      call.outcome = outcome;
      call.endTick = this.scheduler.nextTick();
      call.endAt = this.scheduler.now;
      call.endNow = this.clockOf(process);
      this.tell(() => `p${about.process} got   #${call.index} ${describe(outcome)}`);
      this.atEnd?.(call);
    };
    perform(this.latchkeyOf(process, about.workspace), call).then(
      (value) => end({ kind: "returned", value }),
      (error: unknown) => end({ kind: "failed", error }),
    );
  }

  /** The earliest instant that a process can go by now. A sender of webhooks may have read later ones, which its calls do not go by. */
  #leastOf(process: Process): number {
    if (process.sender === null) return this.clockOf(process);
    return Math.max(0, this.scheduler.now + process.clockOffset);
  }

  /** What the clock of a process shows now: after it was set back, the latest instant that it has shown. */
  clockOf({ latest, clockOffset }: Pick<Process, "latest" | "clockOffset">): number {
    return Math.max(latest, this.scheduler.now + clockOffset);
  }

  /** Kills a process in the middle of its calls, and starts a new one in its place. */
  kill(index: number): void {
    const process = this.processes[index] as Process;
    process.isAlive = false;
    this.hasKilled = true;
    for (const call of this.calls)
      if (call.process === index && call.outcome.kind === "pending")
        call.outcome = { kind: "abandoned" };
    this.tell(() => `p${index} is killed and started anew`);
    this.processes[index] = this.#start(index, process.clockOffset);
  }

  setClock(index: number, offset: number): void {
    const process = this.processes[index] as Process;
    process.clockOffset = offset;
    for (const call of this.calls)
      if (call.process === index && call.outcome.kind === "pending")
        call.leastNow = Math.min(call.leastNow, this.#leastOf(process));
    this.tell(() => `the clock of p${index} is ${offset} ms off from now on`);
  }

  stopStore(ms: number): void {
    this.server.downUntil = this.scheduler.now + ms;
    this.tell(() => `the store is down for ${ms} ms`);
  }

  fillStore(ms: number): void {
    this.server.fullUntil = this.scheduler.now + ms;
    this.tell(() => `the store is full for ${ms} ms`);
  }

  /** Moves all keys to another store while they are in use. */
  moveStore(): void {
    // A move is under way, or finished.
    if (this.#finishMove !== null || this.server.isMoved) return;
    const from = this.server;
    const to = new StoreServer(this.scheduler, this.plan.flushMs, this.#laws, from);
    const linkTo = (server: StoreServer): KeyStore =>
      linkedStore({
        ...this.#wire(server),
        process: -1,
        network: () => this.#network,
        isAlive: () => true,
      });
    this.#finishMove = moveKeys(from, to, linkTo, {
      scheduler: this.scheduler,
      tell: (line) => this.tell(line),
      atFence: () => this.atFence?.(),
      hasDamaged: () => this.hasDamaged,
      moved: () => {
        this.#finishMove = null;
        this.server = to;
        for (const index of this.processes.keys()) this.kill(index);
      },
      failed: (why) => {
        this.unfinished = why;
      },
    });
  }

  /**
   * Without `flushMs`, the store fails over to a replica that lacks the latest writes. With it, the store crashes: it loses changes that it
   * has not confirmed yet, and uses taken just before.
   */
  async failOver(count: number): Promise<void> {
    const isCrash = this.plan.flushMs !== null;
    const writes = await this.server.lose(isCrash ? this.server.undurable : count);
    this.server.crashes += 1;
    if (writes.length === 0) return;
    // A crash loses only configuration changes that were not confirmed.
    const ids = new Set(isCrash ? [] : writes.flatMap(idsOf));
    this.losses.push({ tick: this.scheduler.nextTick(), writes, ids });
    this.tell(
      () => `the store fails over and has lost ${writes.map(({ method }) => method).join(", ")}`,
    );
  }
}
