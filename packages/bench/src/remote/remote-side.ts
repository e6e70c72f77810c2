import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { Contender } from "../measure/interleave.js";
import { packageFile } from "../package-file.js";
import type { Calls, CallsDone, Opened, Opening, Reply, Request } from "./protocol.js";

const WORKER = packageFile("dist/remote/side.worker.js");

/** A side in its own process, which works only while it is called. */
export class RemoteSide {
  private constructor(
    readonly name: string,
    private readonly child: ChildProcess,
    readonly opened: Opened,
  ) {}

  /** Starts the process, which fills its store if `opening` says so. @throws Error if the process ends. It has printed why. */
  static async open(name: string, opening: Opening, heapMb = 4_096): Promise<RemoteSide> {
    const execArgv = ["--expose-gc", `--max-old-space-size=${heapMb}`];
    const child = fork(WORKER, [], { execArgv });
    const reply = await ask(child, { kind: "open", opening });
    if (reply.kind !== "opened") throw new Error(`${name} did not open`);
    return new RemoteSide(name, child, reply.opened);
  }

  async run(calls: Calls): Promise<CallsDone> {
    const reply = await ask(this.child, { kind: "calls", calls });
    if (reply.kind !== "done") throw new Error(`${this.name} did not answer`);
    return reply.done;
  }

  /** A contender that goes on through the known secrets from slice to slice. It throws if any verdict is unexpected. */
  contender(
    operation: Calls["operation"],
    { inFlight = 1, from = 0, minCalls = 1, maxCalls = 1e9 } = {},
  ): Contender {
    let next = from;
    return {
      name: this.name,
      minCalls,
      maxCalls,
      run: async (calls) => {
        const { other, elapsedMs } = await this.run({ operation, from: next, calls, inFlight });
        if (other > 0) throw new Error(`${this.name}: ${other} of ${calls} verdicts were wrong`);
        next += calls;
        return elapsedMs;
      },
    };
  }

  /** Closes the side, which gives back its leases, and ends its process. */
  async finish(): Promise<void> {
    await ask(this.child, { kind: "close" });
    await this.close();
  }

  async close(): Promise<void> {
    this.child.disconnect();
    await once(this.child, "exit");
  }
}

function ask(child: ChildProcess, request: Request): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const onMessage = (reply: unknown) => {
      child.off("exit", onExit);
      resolve(reply as Reply);
    };
    const onExit = () => {
      child.off("message", onMessage);
      reject(new Error("a process of the benchmark ended"));
    };
    child.once("message", onMessage);
    child.once("exit", onExit);
    child.send(request);
  });
}
