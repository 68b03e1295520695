import { z } from 'zod'
import type { Answer } from '../support/service.ts'

export const textOf = ({ body }: Answer) => (typeof body === 'string' ? body : JSON.stringify(body))
export const errorOf = ({ body }: Answer) => z.object({ error: z.string() }).parse(body).error
export const idOf = ({ body }: Answer) => z.object({ id: z.string() }).parse(body).id
