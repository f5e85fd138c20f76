import { defineConfig } from "vite";

// Addresses in the page are relative: it is served from the root of `xdsctl ui`, and from any directory as static files.
export default defineConfig({
  base: "./",
  build: { target: "es2022", modulePreload: { polyfill: false }, assetsInlineLimit: 0, chunkSizeWarningLimit: 1000 },
  worker: { format: "es" },
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
});
