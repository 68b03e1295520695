import { z } from 'zod'
import { decimalNumber, epochSeconds, extensibleEnum, wholeNumber } from './field-schemas.ts'
import { streamStates } from './health.ts'

const withCredential = 'shown to callers with a credential'

const ReplicaStatus = z
  .object({
    id: z.string(),
    started: epochSeconds,
    heartbeat: epochSeconds.describe('Time of the last heartbeat'),
    tasks: wholeNumber.describe('Unfinished tasks that it watches'),
  })
  .meta({ id: 'ReplicaStatus' })

export const maxReplicas = 100

export const ServiceStatus = z
  .object({
    version: z.string(),
    started: epochSeconds.describe('When the replica that answers was started'),
    argo_cd: z
      .object({
        status: z.enum(['up', 'degraded', 'down']),
        stream: extensibleEnum(streamStates).optional(),
        detail: z.string().optional().describe('Why it is not up'),
        version: z.string().optional().describe(`Version of Argo CD where it is known; ${withCredential}`),
        last_message: epochSeconds.optional().describe(`When its stream last received data; ${withCredential}`),
        unreachable_since: epochSeconds.optional().describe(`Absent while it answers; ${withCredential}`),
        applications: wholeNumber.optional().describe(`Applications that it shows, up to 5,000; ${withCredential}`),
      })
      .meta({ id: 'ArgoCdStatus' }),
    database: z
      .object({ version: z.string().describe('Version of PostgreSQL'), answer_ms: decimalNumber })
      .optional()
      .meta({ id: 'DatabaseStatus' })
      .describe(`Absent while it does not answer; ${withCredential}`),
    replicas: z
      .array(ReplicaStatus)
      .optional()
      .describe(`Up to ${maxReplicas}, oldest first; absent while the database does not answer; ${withCredential}`),
    config: z
      .object({
        loaded: epochSeconds.describe('When the configuration that counts was read'),
        issues: z.array(z.string()).describe('What is wrong with the file as it is now; empty: it counts'),
      })
      .optional()
      .meta({ id: 'ConfigStatus' })
      .describe(`Of CONFIG_FILE; absent without one; ${withCredential}`),
    notifications: z
      .object({ issues: z.array(z.string()).describe('Each with the name of its target; 20 at most; empty: none') })
      .optional()
      .meta({ id: 'NotificationStatus' })
      .describe(
        `What has to change before notifications can be sent that wait, such as an App that is not installed; absent while the database does not answer; ${withCredential}`,
      ),
  })
  .meta({
    id: 'ServiceStatus',
    examples: [
      {
        version: '0.1.0',
        started: 1_795_392_000.5,
        argo_cd: {
          status: 'up',
          stream: 'live',
          version: 'v3.4.2',
          last_message: 1_795_420_859.6,
          applications: 46,
        },
        database: { version: '17.6', answer_ms: 1.2 },
        notifications: {
          issues: ['commits: GitHub App 123 is not installed on acme/shop, or there is no such repository'],
        },
        replicas: [
          {
            id: '0b9c6f0e-5a0d-4f0e-9d0a-6c1f0b3f8a11',
            started: 1_795_392_000.5,
            heartbeat: 1_795_420_859.1,
            tasks: 3,
          },
        ],
      },
    ],
  })
export type ReplicaStatus = z.infer<typeof ReplicaStatus>
export type ServiceStatus = z.infer<typeof ServiceStatus>
