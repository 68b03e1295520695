import { execFile } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import chromium, { inflate } from '@sparticuz/chromium'
import { type Browser, type Page, chromium as playwright } from 'playwright-core'
import { readLimitMs } from '../../server/deployments/task-errors.ts'

/** Ends what hangs; a busy machine takes long. */
const patienceMs = 90_000

/** The package's own suggestions switch off web security and process isolation, so they are not used. */
const browserArguments = ['--no-sandbox', '--disable-gpu', '--disable-background-networking']

/**
 * Starts a headless Chromium: the program at CHROMIUM_PATH if given, else the one from npm (x64 Linux; the first start
 * unpacks it into the temporary folder). Closed by `await using`.
 * @throws naming what to install and to set where none starts
 */
export async function launchBrowser(program = process.env.CHROMIUM_PATH): Promise<Browser & AsyncDisposable> {
  try {
    const { executablePath, libraries } = await unpackBrowser(program)
    const env = { ...process.env, LANG: 'en_US.UTF-8', ...(libraries && { LD_LIBRARY_PATH: libraries }) }
    return await playwright.launch({ executablePath, args: browserArguments, env })
  } catch (cause) {
    const hint = 'install one (apt-get install chromium) and set CHROMIUM_PATH to its program (/usr/bin/chromium)'
    throw new Error(`no Chromium starts: ${hint}`, { cause })
  }
}

/**
 * Where Chromium is, and the libraries that the system lacks. A run calls it once before its tests: two processes that unpack
 * the program at the same time spoil it.
 */
export async function unpackBrowser(program = process.env.CHROMIUM_PATH) {
  const executablePath = program ?? (await programFromNpm())
  return { executablePath, libraries: await missingLibraries(executablePath) }
}

async function programFromNpm(): Promise<string> {
  const { platform, arch } = process
  if (platform !== 'linux' || arch !== 'x64') throw new Error(`npm has no Chromium for ${platform} ${arch}`)
  return chromium.executablePath()
}

/** Where libnss3, libnspr4 and libexpat are when the system lacks them: the package carries a set of its own. */
async function missingLibraries(executablePath: string): Promise<string | undefined> {
  const { stdout } = await promisify(execFile)('ldd', [executablePath])
  if (!stdout.includes('not found')) return undefined
  const packageRoot = dirname(dirname(fileURLToPath(import.meta.resolve('@sparticuz/chromium'))))
  return join(await inflate(join(packageRoot, 'bin', 'al2023.tar.br')), 'lib')
}

export type OpenOptions = {
  readonly scheme?: 'light' | 'dark'
  readonly width?: number
  /** Else UTC. */
  readonly timeZone?: string
  /** The test moves the page's clock by hand. */
  readonly hasClock?: boolean
  /** Of a user who has signed in elsewhere. */
  readonly cookies?: ReadonlyMap<string, string> | undefined
}

export type OpenedPage = AsyncDisposable & {
  readonly page: Page
  /** What the browser objected to: errors and warnings of its console (the CSP's among them), exceptions, dialogs. */
  readonly complaints: readonly string[]
  /** Requests to anywhere but the service. */
  readonly outside: readonly string[]
}

/** Whether the service gave up a read at its limit, as on a busy machine. The page asks again: what a test waits for comes. */
const isGivenUp = (body: string) => body.includes(`timed out after ${readLimitMs / 1000}s`)

/**
 * Opens a page of the service in a context of its own and notes what a reader would not see. What pages of others do, such as
 * those of an identity provider, is not noted.
 */
export async function openPage(
  browser: Browser,
  baseUrl: string,
  path: string,
  options: OpenOptions = {},
): Promise<OpenedPage> {
  const context = await browser.newContext({
    locale: 'en-GB', // without one Chromium says `en-US@posix`, which no Intl function takes
    timezoneId: options.timeZone ?? 'UTC',
    colorScheme: options.scheme ?? 'light',
    reducedMotion: 'reduce', // drawing what moves costs most of what a browser does here
    viewport: { width: options.width ?? 1440, height: 900 },
  })
  context.setDefaultTimeout(patienceMs)
  const cookies = [...(options.cookies ?? [])]
  await context.addCookies(cookies.map(([name, value]) => ({ name, value, url: baseUrl, httpOnly: true })))
  const page = await context.newPage()
  if (options.hasClock) await page.clock.install()
  const complaints: string[] = []
  const outside: string[] = []
  const isElsewhere = () => page.url().startsWith('http') && !page.url().startsWith(`${baseUrl}/`)
  page.on('console', (message) => {
    if (isElsewhere() || message.text().includes('status of 503')) return
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('response', async (response) => {
    if (response.status() !== 503 || isElsewhere()) return
    const body = await response.text().catch(() => undefined) // of a page that has been left
    if (body !== undefined && !isGivenUp(body)) complaints.push(`503 from ${response.url()}: ${body}`)
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${baseUrl}/`) && !url.startsWith('data:') && !isElsewhere()) outside.push(url)
  })
  await page.goto(baseUrl + path)
  const close = async () => {
    // Else an answer that is still under way fails the run. A test may have closed the page before its end.
    if (!page.isClosed()) await page.unrouteAll({ behavior: 'ignoreErrors' })
    await context.close()
  }
  return { page, complaints, outside, [Symbol.asyncDispose]: close }
}
