import { guard } from "./guard.mjs";

/** @typedef {{ params: Promise<{ zoom: string }> }} RouteContext */

// app/tiles/[zoom]/route.js in an app.
export const GET = guard(
  { permissions: "tiles.read" },
  async (
    /** @type {Request} */ _request,
    { keyId, remaining },
    /** @type {RouteContext} */ { params },
  ) => Response.json({ zoom: (await params).zoom, keyId, usesLeft: remaining }),
);
