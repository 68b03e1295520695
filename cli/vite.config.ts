import { chmodSync } from 'node:fs'
import path from 'node:path'
import { defineConfig } from 'vite'

const file = 'deployment-watcher.mjs'

/** One file that Node runs as it is: with the packages it uses, and nothing of them at run time. */
export default defineConfig({
  root: import.meta.dirname,
  build: {
    ssr: 'main.ts',
    target: 'node20',
    minify: true,
    outDir: 'dist',
    emptyOutDir: true,
    rolldownOptions: {
      output: { entryFileNames: file, codeSplitting: false, banner: '#!/usr/bin/env node' },
    },
  },
  ssr: { noExternal: true },
  plugins: [
    {
      name: 'executable',
      writeBundle: ({ dir = '' }) => chmodSync(path.join(dir, file), 0o755),
    },
  ],
})
