import { fastify } from 'fastify'
import { Pool } from 'pg'
import { freePort } from '../../server/storage/embedded-postgres.mjs'

/**
 * What the service is measured against: one route that puts what it gets into one table, in a process of its own. No
 * rules, no supersession, no lock, no events, nobody who watches.
 */
const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: 16 })
await pool.query(`CREATE TABLE IF NOT EXISTS public.bare_tasks (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), app text NOT NULL,
  author text NOT NULL, project text NOT NULL, images jsonb NOT NULL, created timestamptz NOT NULL DEFAULT now())`)

type Submission = { app: string; author: string; project: string; images: unknown }
const app = fastify()
app.post<{ Body: Submission }>('/api/v1/tasks', async ({ body }, reply) => {
  const { rows } = await pool.query(
    'INSERT INTO public.bare_tasks (app, author, project, images) VALUES ($1, $2, $3, $4) RETURNING id',
    [body.app, body.author, body.project, JSON.stringify(body.images)],
  )
  return reply.code(202).send({ id: rows[0].id, status: 'accepted' })
})
const port = await freePort()
await app.listen({ host: '127.0.0.1', port })
process.send?.(port)
process.on('disconnect', async () => {
  await app.close()
  await pool.end()
})
