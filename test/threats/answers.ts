import { z } from 'zod'
import { type Answer, aTask, type Service } from '../support/service.ts'

export const textOf = ({ body }: Answer) => (typeof body === 'string' ? body : JSON.stringify(body))
export const errorOf = ({ body }: Answer) => z.object({ error: z.string() }).parse(body).error
export const idOf = ({ body }: Answer) => z.object({ id: z.string() }).parse(body).id

/** Shows credentials, in headers or in the query. */
export type Present = (headers: [string, string][], query?: string) => Promise<Answer>

/** Asks for something that needs a credential and changes nothing: 409 where it was good, since the task is over. */
export async function presentTo(service: Service): Promise<Present> {
  const id = idOf(await service.submitTask(aTask({ app: 'no-such-app' })))
  await service.waitForEnd(id)
  return (headers, query = '') => service.request(`/api/v1/tasks/${id}${query}`, { method: 'DELETE', headers })
}
