import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'

const root = path.join(import.meta.dirname, '../..')
const pages = path.join(root, 'web/dist')
const initialScripts = /(?:<script[^>]+src|<link[^>]+rel="modulepreload"[^>]+href)="\/(assets\/[^"]+\.js)"/g

/** Builds the pages that the service serves. */
export async function buildPages(): Promise<void> {
  const vite = path.join(root, 'node_modules/vite/bin/vite.js')
  const build = [vite, 'build', '--config', 'web/vite.config.ts', '--logLevel', 'warn']
  await promisify(execFile)(process.execPath, build, { cwd: root, env: { ...process.env, NODE_ENV: 'production' } })
}

/** The JavaScript that a browser loads before the first page is drawn: kB after gzip. */
export async function weighInitialScript(): Promise<number> {
  const page = await readFile(path.join(pages, 'index.html'), 'utf8')
  const names = [...page.matchAll(initialScripts)].map(([, name = '']) => name)
  if (names.length === 0) throw new Error('the page loads no script')
  const contents = await Promise.all(names.map((name) => readFile(path.join(pages, name))))
  return contents.reduce((sum, content) => sum + gzipSync(content, { level: 9 }).length, 0) / 1_000
}
