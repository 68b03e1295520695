import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import https from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { openBareRepository } from '../../simulator/git-host/bare-repository.ts'
import { gitEnvironment, runGit } from '../../simulator/git-host/run-git.ts'
import type { FileChanges } from '../../simulator/model/memory-git.ts'

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url))

/** The authority that signed the certificate of the host. */
export const authorityPath = fixture('certificate.pem')

export type HttpsGitHost = Awaited<ReturnType<typeof startHttpsGitHost>>

/**
 * Git's own HTTP server behind TLS, for one user and token.
 * @param accepts what other passwords of this user count in a repository, such as `team/shop.git`
 */
export async function startHttpsGitHost(
  login: { user: string; password: string },
  accepts: (password: string, repository: string) => boolean = () => false,
) {
  const folder = await mkdtemp(path.join(tmpdir(), 'https-git-host-'))
  const requests: { url: string; authorization: string | undefined }[] = []
  const state = { password: login.password, redirect: undefined as ((url: string) => string | undefined) | undefined }

  function isGood(url: string, authorization = ''): boolean {
    const [user = '', password = ''] = Buffer.from(authorization.replace(/^Basic /, ''), 'base64')
      .toString()
      .split(':')
    const repository = url.slice(1).replace(/\/(?:info\/refs|git-[\w-]+)(?:\?.*)?$/, '')
    return user === login.user && (password === state.password || accepts(password, repository))
  }

  const server = https.createServer(
    { key: readFileSync(fixture('key.pem')), cert: readFileSync(authorityPath) },
    (request, response) => {
      const { url = '', headers } = request
      requests.push({ url, authorization: headers.authorization })
      const elsewhere = state.redirect?.(url)
      if (elsewhere !== undefined) response.writeHead(302, { location: elsewhere }).end()
      else if (isGood(url, headers.authorization)) runBackend(folder, login.user, request, response)
      else response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end('who are you?')
    },
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (typeof address !== 'object' || !address) throw new Error('the host has no port')

  return {
    port: address.port,
    /** What it answers with: another `password`, or a place elsewhere for an address. */
    state,
    requests: (): readonly { url: string; authorization: string | undefined }[] => requests,
    directory: (name: string) => path.join(folder, name),
    git: async (name: string, ...args: string[]) => (await runGit(path.join(folder, name), args)).trimEnd(),
    createRepository: async (name: string, files: FileChanges) =>
      (await openBareRepository(path.join(folder, name))).commit(files, { message: 'first' }),
    url: (name: string, port = address.port) => `https://127.0.0.1:${port}/${name}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function runBackend(folder: string, user: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? '', 'https://host')
  const {
    'content-type': type,
    'content-length': length,
    'content-encoding': encoding,
    'git-protocol': version,
  } = request.headers
  const child = spawn('git', ['http-backend'], {
    env: gitEnvironment({
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: decodeURIComponent(pathname),
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method ?? '',
      REMOTE_USER: user,
      ...(type === undefined ? {} : { CONTENT_TYPE: type }),
      ...(length === undefined ? {} : { CONTENT_LENGTH: length }),
      ...(encoding === undefined ? {} : { HTTP_CONTENT_ENCODING: encoding }),
      ...(typeof version === 'string' ? { GIT_PROTOCOL: version } : {}),
    }),
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.on('error', () => {}) // it may have heard enough
  request.pipe(child.stdin)
  let head: Buffer | undefined = Buffer.alloc(0)
  child.stdout.on('data', (chunk: Buffer) => {
    if (head === undefined) return void response.write(chunk)
    head = Buffer.concat([head, chunk])
    const end = head.indexOf('\r\n\r\n')
    if (end < 0) return
    const fields = head
      .toString('latin1', 0, end)
      .split('\r\n')
      .map((line) => line.split(': ', 2) as [string, string])
    const status = fields.find(([name]) => name === 'Status')?.[1] ?? '200'
    response.writeHead(Number.parseInt(status, 10), Object.fromEntries(fields.filter(([name]) => name !== 'Status')))
    response.write(head.subarray(end + 4))
    head = undefined
  })
  child.on('close', () => response.end())
}
