import { z } from 'zod'

/** The last task of a page: where the next page begins. Clients pass it on as it is. */
export type TaskCursor = { readonly createdMs: number; readonly id: string }

export const renderTaskCursor = ({ createdMs, id }: TaskCursor) => `${createdMs.toString(36)}-${id.replaceAll('-', '')}`

export const TaskCursor = z
  .string()
  .regex(/^[0-9a-z]{1,9}-[0-9a-f]{32}$/, 'must be a next_cursor of this list')
  .transform((text): TaskCursor => {
    const [time = '', hex = ''] = text.split('-')
    const id = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
    return { createdMs: Number.parseInt(time, 36), id }
  })
