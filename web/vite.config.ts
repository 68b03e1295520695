import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { compressedAssets, iconSprite } from './vite-plugins.ts'

export default defineConfig({
  root: import.meta.dirname,
  base: '/',
  plugins: [react(), iconSprite(), compressedAssets()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    sourcemap: false,
    // The design writes every colour as light-dark(); an older target would have it rewritten (decision 0022).
    target: ['chrome123', 'edge123', 'firefox121', 'safari17.5'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:8080', '/swagger': 'http://127.0.0.1:8080' } },
})
