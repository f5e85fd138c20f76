import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { defineConfig } from "vite";

/** Beside each file what `xdsctl ui` sends: the command has the pages within itself, and is to stay small. */
const compressed = {
  name: "compressed",
  writeBundle({ dir }: { dir?: string }) {
    for (const file of readdirSync(dir!, { recursive: true, encoding: "utf8" })) {
      if (/\.(js|css|wasm)$/.test(file)) writeFileSync(join(dir!, `${file}.gz`), gzipSync(readFileSync(join(dir!, file)), { level: 9 }));
    }
  },
};

// Addresses in the page are relative: it is served below the token of `xdsctl ui`, and from any directory as static files.
export default defineConfig({
  base: "./",
  build: { target: "es2022", modulePreload: { polyfill: false }, assetsInlineLimit: 0, chunkSizeWarningLimit: 1000 },
  worker: { format: "es" },
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  plugins: [compressed],
});
