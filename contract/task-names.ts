import { z } from 'zod'
import { textFilter } from './field-schemas.ts'

const nameFields = ['app', 'project', 'environment', 'author'] as const
export type NameField = (typeof nameFields)[number]

export const maxNames = 20

export const TaskNames = z
  .object({
    names: z.array(z.string()).describe(`Up to ${maxNames} names, sorted`),
    has_more: z.boolean().describe('There are more: search for a longer text'),
  })
  .meta({ id: 'TaskNames', examples: [{ names: ['shop', 'shop-api'], has_more: false }] })
export type TaskNames = z.infer<typeof TaskNames>

/** The query string of the names. Unknown parameters are ignored. */
export const NameSearch = z.object({
  field: z.enum(nameFields, { error: `must be one of ${nameFields.join(', ')}` }).describe('Field of the names'),
  search: textFilter.describe('Part of the name, in any case'),
})
export type NameSearch = z.infer<typeof NameSearch>
