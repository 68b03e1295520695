import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import type { Browser } from 'playwright-core'
import { openPage } from '../../test/support/browser.ts'

const root = path.join(import.meta.dirname, '../..')
const pages = path.join(root, 'web/dist')
const loadedScripts = `performance.getEntriesByType('resource')
  .map(({ name }) => new URL(name).pathname).filter((path) => path.endsWith('.js'))`

/** Builds the pages that the service serves. */
export async function buildPages(): Promise<void> {
  const vite = path.join(root, 'node_modules/vite/bin/vite.js')
  const build = [vite, 'build', '--config', 'web/vite.config.ts', '--logLevel', 'warn']
  await promisify(execFile)(process.execPath, build, { cwd: root, env: { ...process.env, NODE_ENV: 'production' } })
}

/** The JavaScript that index.html names, before any page of its own: kB after gzip. */
export async function weighInitialScript(): Promise<number> {
  const html = await readFile(path.join(pages, 'index.html'), 'utf8')
  return weigh([...html.matchAll(/(?:src|href)="(\/assets\/[^"]+\.js)"/g)].map(([, name = '']) => name))
}

/** All JavaScript that a browser loads for a page: kB after gzip. */
export async function weighPage(browser: Browser, url: string, where: string): Promise<number> {
  await using opened = await openPage(browser, url, where)
  await opened.page.getByRole('heading', { level: 1 }).waitFor()
  return weigh(await opened.page.evaluate<string[]>(loadedScripts))
}

async function weigh(names: readonly string[]): Promise<number> {
  if (names.length === 0) throw new Error('the page loads no script')
  const contents = await Promise.all(names.map((name) => readFile(path.join(pages, name))))
  return contents.reduce((sum, content) => sum + gzipSync(content, { level: 9 }).length, 0) / 1_000
}
