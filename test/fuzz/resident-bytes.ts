import type { Service } from '../support/service.ts'

/** Memory of the service's process as its metrics tell it. */
export async function residentBytes(service: Pick<Service, 'request'>): Promise<number> {
  const { body } = await service.request('/metrics')
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(String(body))?.[1])
}
