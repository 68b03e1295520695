// biome-ignore-start lint/style/noRestrictedImports: runs in the build, not in the browser
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
// biome-ignore-end lint/style/noRestrictedImports: as above
import type { Plugin } from 'vite'

const compressible = /\.(js|css|html|svg)$/

/** Puts the sprite into the page once, so that `<use href="#i-failed">` works on every page without a request. */
export function iconSprite(): Plugin {
  return {
    name: 'icon-sprite',
    async transformIndexHtml(html) {
      const file = await readFile(join(import.meta.dirname, 'src/ui/design/icons.svg'), 'utf8')
      const sprite = file.replace('<svg ', '<svg width="0" height="0" class="sr" aria-hidden="true" ')
      return html.replace('<!-- icons -->', () => sprite.trim())
    },
  }
}

/** Writes a `.br` and a `.gz` beside each asset, so that the server never compresses one while it answers. */
export function compressedAssets(): Plugin {
  return {
    name: 'compressed-assets',
    apply: 'build',
    enforce: 'post',
    // After Vite's own plugins: they write the names of chunks that are loaded late into the code.
    generateBundle: {
      order: 'post',
      async handler(_options, bundle) {
        const assets = Object.values(bundle).filter(({ fileName }) => compressible.test(fileName))
        for (const asset of assets) {
          const content = Buffer.from(asset.type === 'chunk' ? asset.code : asset.source)
          const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } }
          this.emitFile({
            type: 'asset',
            fileName: `${asset.fileName}.br`,
            source: await promisify(brotliCompress)(content, quality),
          })
          this.emitFile({
            type: 'asset',
            fileName: `${asset.fileName}.gz`,
            source: await promisify(gzip)(content, { level: 9 }),
          })
        }
      },
    },
  }
}
