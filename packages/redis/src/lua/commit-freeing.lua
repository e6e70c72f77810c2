#!lua flags=allow-oom
--[[
  The same as commit.lua, allowed to a server without memory: for a change that makes nothing new, since access must be
  revocable at any time.

  KEYS[1]  and on, ARGV: as commit.lua takes them
  Returns  what commit.lua does
  Mirrors  KeyStore.commit in packages/core/src/store/key-store.ts
]]
-- include commit.lua
