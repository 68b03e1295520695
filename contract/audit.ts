import { z } from 'zod'
import { epochSeconds, extensibleEnum, wholeNumber } from './field-schemas.ts'
import { largestId } from './fields.ts'

const auditActions = [
  'lock_set',
  'lock_released',
  'task_submitted',
  'task_cancelled',
  'token_issued',
  'token_revoked',
  'target_disabled',
] as const
export type AuditAction = (typeof auditActions)[number]

/** The kinds of credential that callers act with; `command`: an operator at the service's own command line; `service`: the service by itself. */
export const actorKinds = [
  'anonymous',
  'deploy_token',
  'jwt',
  'scoped_token',
  'ci',
  'oidc',
  'session',
  'command',
  'service',
] as const
export type ActorKind = (typeof actorKinds)[number]

export const AuditEntry = z
  .object({
    id: wholeNumber,
    at: epochSeconds,
    action: extensibleEnum(auditActions).describe('What was done; more may be added'),
    actor_kind: extensibleEnum(actorKinds).describe(
      'The kind of credential, `command` for the command line of the service, or `service` for itself; more may be added',
    ),
    actor: z
      .string()
      .nullable()
      .describe('sub of the user or the JWT, id of the scoped deploy token, or issuer and sub of the ID token of a CI'),
    actor_name: z.string().nullable().describe('As the credential names them; of a CI the rule of ci_identities'),
    subject: z.string().nullable().describe('Id of the task or the token, or name of the target'),
    detail: z.string().nullable(),
  })
  .meta({ id: 'AuditEntry' })
export type AuditEntry = z.infer<typeof AuditEntry>

export const AuditPage = z
  .object({
    entries: z.array(AuditEntry),
    next: wholeNumber.nullable().describe('`before` of the next page; null on the last one'),
  })
  .meta({
    id: 'AuditPage',
    examples: [
      {
        entries: [
          {
            id: 7,
            at: 1_795_420_800.25,
            action: 'lock_set',
            actor_kind: 'session',
            actor: 'f4c1',
            actor_name: 'ada',
            subject: null,
            detail: 'OPS-2214 (until released)',
          },
        ],
        next: null,
      },
    ],
  })
export type AuditPage = z.infer<typeof AuditPage>

const actionList = new RegExp(
  `^(?:${auditActions.join('|')})(?:,(?:${auditActions.join('|')})){0,${auditActions.length - 1}}$`,
)

export const AuditFilter = z.object({
  action: z
    .string()
    .regex(actionList, `must be one of ${auditActions.join(', ')}, or some of them, separated by commas`)
    .transform((text) => [...new Set(text.split(','))] as AuditAction[])
    .optional()
    .meta({ pattern: actionList.source })
    .describe('Only entries of this action, or of these, separated by commas'),
  before: z
    .string()
    .regex(/^\d{1,15}$/, 'must be the id of an entry')
    .transform(Number)
    .optional()
    .meta({ type: 'integer', format: 'int64', minimum: 0, maximum: largestId })
    .describe('Only entries with a lower id'),
  limit: z
    .string()
    .regex(/^(?:[1-9]\d{0,2}|1000)$/, 'must be a whole number from 1 to 1000')
    .transform(Number)
    .optional()
    .meta({ type: 'integer', minimum: 1, maximum: 1000 })
    .describe('Entries of one page, which ends at 2 MiB; absent: 100'),
})
export type AuditFilter = z.infer<typeof AuditFilter>
