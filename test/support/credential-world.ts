import { idOf } from '../security/answers.ts'
import { type Answer, aTask } from './service.ts'
import { startWorld } from './world.ts'

export type CredentialWorld = Awaited<ReturnType<typeof startCredentialWorld>>

/** A world whose service takes a deploy token and JWTs of this secret. */
export async function startCredentialWorld(jwtSecret: string) {
  await using started = new AsyncDisposableStack()
  const world = started.use(await startWorld({ settings: { JWT_SECRET: jwtSecret } }))
  const id = idOf(await world.service.submitTask(aTask({ app: 'no-such-app' })))
  await world.service.waitForEnd(id)
  const stack = started.move()
  return {
    ...world,
    /**
     * Shows credentials, in headers or in the query, where one is needed and nothing changes: 409 where all were good, since
     * the task is over.
     */
    present: (headers: readonly (readonly [string, string])[], query = ''): Promise<Answer> =>
      world.service.request(`/api/v1/tasks/${id}${query}`, {
        method: 'DELETE',
        headers: headers.map(([name, value]) => [name, value]),
      }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
