import { defineConfig } from 'vite'

/** One file that the runner runs as it is, from the repository: with the packages it uses, and nothing of them at run time. */
export default defineConfig({
  root: import.meta.dirname,
  build: {
    ssr: 'main.ts',
    target: 'node24',
    minify: true,
    outDir: 'dist',
    emptyOutDir: true,
    rolldownOptions: { output: { entryFileNames: 'main.mjs', codeSplitting: false } },
  },
  ssr: { noExternal: true },
})
