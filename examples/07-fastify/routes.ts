import type { createGuard } from "@latchkey/guard/fastify";
import type { FastifyInstance } from "fastify";

export function addTiles(app: FastifyInstance, guard: ReturnType<typeof createGuard>): void {
  app.get<{ Params: { zoom: string } }>(
    "/tiles/:zoom",
    { onRequest: guard({ permissions: "tiles.read" }) },
    async ({ apiKey, params: { zoom } }) => ({
      zoom,
      keyId: apiKey.keyId,
      usesLeft: apiKey.remaining,
    }),
  );
}
