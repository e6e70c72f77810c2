import { createServer, connect as dial, type Socket } from "node:net";

/** What happens to a batch of answers: it arrives, or it is swallowed and the connection breaks. */
export type Fate = "deliver" | "lose";

/** A link to a server that can be made to misbehave. */
export interface FaultyLink {
  readonly port: number;
  readonly url: string;
  /**
   * Decides on each batch of answers from now on. TCP never drops part of a living connection: a client that loses answers also loses the
   * connection, after the server has done the work.
   */
  readonly decide: (fate: () => Fate) => void;
  /** Holds every batch of answers back for this long from now on. */
  readonly delay: (delayMs: number) => void;
  /** Passes nothing on, in either direction, while connections stay open and new ones are taken. */
  readonly stall: () => void;
  /** Ends {@link stall}: what was held arrives. */
  readonly heal: () => void;
  /** Breaks every connection, with all that is on its way. */
  readonly cut: () => void;
  /** Leads new connections to another port, or nowhere when null; breaks those to the old one. */
  readonly leadTo: (port: number | null) => void;
  readonly close: () => Promise<void>;
}

/** Starts a proxy on a free port of the loopback interface. */
export async function startProxy(target: number): Promise<FaultyLink> {
  const links = new Set<Link>();
  const rules: Rules = { fate: () => "deliver", delayMs: 0, isStalled: false };
  let port: number | null = target;

  const server = createServer({ noDelay: true }, (client) => {
    if (port === null) {
      client.destroy();
      return;
    }
    const link = new Link(client, dial({ host: "127.0.0.1", port, noDelay: true }), rules);
    links.add(link);
    link.onEnd(() => links.delete(link));
  });
  const cut = () => {
    for (const link of links) link.cut();
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const own = typeof address === "object" && address !== null ? address.port : 0;
  return {
    port: own,
    url: `redis://127.0.0.1:${own}`,
    decide: (fate) => {
      rules.fate = fate;
    },
    delay: (delayMs) => {
      rules.delayMs = delayMs;
    },
    stall: () => {
      rules.isStalled = true;
    },
    heal: () => {
      rules.isStalled = false;
      for (const link of links) link.flush();
    },
    cut,
    leadTo: (next) => {
      port = next;
      cut();
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      cut();
      await closed;
    },
  };
}

interface Rules {
  fate: () => Fate;
  delayMs: number;
  isStalled: boolean;
}

/** One connection through the proxy. */
class Link {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #rules: Rules;
  #held: (() => void)[] = [];
  /** Settles when all earlier answers have been passed on: TCP never changes their order. */
  #earlier: Promise<unknown> = Promise.resolve();
  #ended: () => void = () => undefined;

  constructor(client: Socket, server: Socket, rules: Rules) {
    this.#client = client;
    this.#server = server;
    this.#rules = rules;
    client.on("data", (questions) => this.#pass(() => server.write(questions)));
    server.on("data", (answers) => this.#answer(answers));
    for (const socket of [client, server]) {
      socket.on("error", () => this.cut());
      socket.on("close", () => this.cut());
    }
  }

  onEnd(ended: () => void): void {
    this.#ended = ended;
  }

  cut(): void {
    this.#client.destroy();
    this.#server.destroy();
    this.#held = [];
    this.#ended();
  }

  flush(): void {
    for (const pass of this.#held.splice(0)) pass();
  }

  #answer(answers: Buffer): void {
    if (this.#rules.fate() === "lose") {
      this.cut();
      return;
    }
    const deliver = () => {
      if (!this.#client.destroyed) this.#client.write(answers);
    };
    const { delayMs } = this.#rules;
    const due = delayMs > 0 ? new Promise((resolve) => setTimeout(resolve, delayMs)) : null;
    this.#earlier = Promise.all([this.#earlier, due]).then(() => this.#pass(deliver));
  }

  #pass(deliver: () => void): void {
    if (this.#rules.isStalled) this.#held.push(deliver);
    else deliver();
  }
}
