import { type Answer, aTask, type Service } from './service.ts'

/**
 * Presents credentials, in headers or in the query, where one is needed and nothing changes: 409 where all were good, since
 * the task is over.
 */
export async function presentCredentials(service: Service) {
  const id = await service.acceptTask(aTask({ app: 'no-such-app' }))
  await service.waitForEnd(id)
  return (headers: readonly (readonly [string, string])[], query = ''): Promise<Answer> =>
    service.request(`/api/v1/tasks/${id}${query}`, {
      method: 'DELETE',
      headers: headers.map(([name, value]) => [name, value]),
    })
}
