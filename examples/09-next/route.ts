import { guard } from "./guard.js";

// app/tiles/[zoom]/route.ts in an app.
export const GET = guard(
  { permissions: "tiles.read" },
  async (
    _request: Request,
    { keyId, remaining },
    { params }: { params: Promise<{ zoom: string }> },
  ) => Response.json({ zoom: (await params).zoom, keyId, usesLeft: remaining }),
);
