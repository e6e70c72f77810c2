import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** The requests to send. `expected`: text that every good response contains. */
export interface LoadRequest {
  readonly path: string;
  readonly token: string;
  readonly bodies: readonly string[];
  readonly expected: string;
}

/** Connections that stay open, each with one request at a time. */
export class Load {
  private readonly messages: readonly Buffer[];
  private next = 0;

  private constructor(
    private readonly sockets: readonly Socket[],
    private readonly request: LoadRequest,
  ) {
    const { path, token, bodies } = request;
    this.messages = bodies.map((body) =>
      Buffer.from(
        `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      ),
    );
  }

  static async open(port: number, connections: number, request: LoadRequest): Promise<Load> {
    const sockets = Array.from({ length: connections }, () => connect(port, "127.0.0.1"));
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    for (const socket of sockets) socket.setNoDelay(true);
    return new Load(sockets, request);
  }

  /** Sends `requests` requests over all connections together. @throws Error for an unexpected response. */
  async run(requests: number): Promise<void> {
    let left = requests;
    const work = async (socket: Socket) => {
      while (left > 0) {
        left -= 1;
        await this.exchange(socket);
      }
    };
    await Promise.all(this.sockets.map(work));
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  // On bare sockets: a client as slow as the server would hide half of the server's time.
  private exchange(socket: Socket): Promise<void> {
    const message = this.messages[this.next % this.messages.length] as Buffer;
    this.next += 1;
    return new Promise((resolve, reject) => {
      let response = "";
      const onData = (chunk: Buffer) => {
        response += chunk.toString("latin1");
        if (!isComplete(response)) return;
        socket.off("data", onData);
        if (response.startsWith("HTTP/1.1 200") && response.includes(this.request.expected))
          resolve();
        else reject(new Error(`unexpected response: ${response}`));
      };
      socket.on("data", onData);
      socket.write(message);
    });
  }
}

/** Whether a response is complete. Both servers send its length. @throws Error for a response without one. */
function isComplete(response: string): boolean {
  const end = response.indexOf("\r\n\r\n");
  if (end === -1) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(response.slice(0, end))?.[1];
  if (length === undefined) throw new Error(`a response without length: ${response}`);
  return response.length >= end + 4 + Number(length);
}
