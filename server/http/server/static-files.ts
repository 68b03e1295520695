import { existsSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'
import type { AnswerPage } from './unknown-request.ts'

/**
 * Serves the built web UI of `folder` and gives what answers for its pages. Each file is a route of its own, so no part
 * of a URL ever becomes a path on disk. Without a build the service works, and its pages say what is missing.
 */
export function serveStaticFiles(app: FastifyInstance, folder: string): AnswerPage {
  if (!existsSync(join(folder, 'index.html'))) {
    app.log.warn({ folder }, 'web UI not built, serving the API only')
    return (_request, reply) => reply.type('text/html; charset=utf-8').code(503).send(notBuiltPage)
  }
  app.register(fastifyStatic, {
    root: folder,
    wildcard: false,
    index: false,
    preCompressed: true,
    cacheControl: false,
    globIgnore: ['**/*.br', '**/*.gz'],
    setHeaders: (reply, path) => void reply.header('Cache-Control', cachingOf(path.slice(folder.length))),
  })
  return (_request, reply) => reply.sendFile('index.html')
}

/** Vite puts a hash of the content into the names below assets/; everything else must be asked for again. */
function cachingOf(file: string): string {
  return /[\\/]assets[\\/]/.test(file) ? 'public, max-age=31536000, immutable' : 'no-cache'
}

const notBuiltPage = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Deployment Watcher</title>
<h1>The web UI is not built</h1>
<p>The service itself works. Run <code>npm run build</code> and start it again to see the UI,
or use the <a href="/swagger/index.html">API explorer</a>.</p>
</html>
`
