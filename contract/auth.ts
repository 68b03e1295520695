import { z } from 'zod'
import { epochSeconds, futureSeconds, line } from './field-schemas.ts'

/** Who the browser that asks is signed in as. */
export const SessionState = z
  .object({
    enabled: z.boolean().describe('Whether there is an identity provider to sign in with'),
    user: z
      .object({ subject: z.string(), name: z.string(), groups: z.array(z.string()), expires: epochSeconds })
      .nullable(),
    privileged: z.boolean().describe('Whether the user may set the lock, deploy, issue tokens and read the audit'),
    privileged_groups: z.array(z.string()).describe('Groups whose members may; empty: every user'),
    read_auth: z.boolean().describe('Whether reading needs a credential too'),
  })
  .meta({
    id: 'SessionState',
    examples: [
      {
        enabled: true,
        user: { subject: 'f4c1', name: 'ada', groups: ['platform'], expires: 1_795_449_600 },
        privileged: true,
        privileged_groups: ['platform'],
        read_auth: false,
      },
    ],
  })
export type SessionState = z.infer<typeof SessionState>

export const SignedOut = z
  .object({ location: z.string().describe('Where the browser signs out at the identity provider, or the first page') })
  .meta({
    id: 'SignedOut',
    examples: [
      {
        location:
          'https://id.example/session/end?client_id=watcher&post_logout_redirect_uri=https%3A%2F%2Fwatcher.example%2F',
      },
    ],
  })

export const DeployTokenRequest = z
  .object({
    apps: z
      .array(line(255))
      .min(1, 'must name at least one application; leave it out for all')
      .max(100, 'must name at most 100 applications')
      .optional()
      .describe('Applications it is valid for: names or globs with * and ?, which do not match /; absent: all'),
    description: line(255),
    expires: futureSeconds.describe('Unix seconds, in the future, at most a year ahead'),
  })
  .meta({
    id: 'DeployTokenRequest',
    examples: [{ apps: ['shop', 'shop-*'], description: 'pipeline of team shop', expires: 1_826_000_000 }],
  })
export type DeployTokenRequest = z.infer<typeof DeployTokenRequest>

const issuedToken = {
  id: '019aa0c5-7d4c-7c3e-9d0a-6c1f0b3f8a12',
  apps: ['shop', 'shop-*'],
  description: 'pipeline of team shop',
  created: 1_795_420_800.25,
  created_by: 'ada',
  expires: 1_826_000_000,
  last_used: null,
  revoked: null,
}

export const DeployToken = z
  .object({
    id: z.string(),
    apps: z.array(z.string()).nullable().describe('null: all applications'),
    description: z.string(),
    created: epochSeconds,
    created_by: z.string(),
    expires: epochSeconds,
    last_used: epochSeconds.nullable().describe('To the minute'),
    revoked: epochSeconds.nullable(),
  })
  .meta({ id: 'DeployToken', examples: [issuedToken] })
export type DeployToken = z.infer<typeof DeployToken>

export const IssuedDeployToken = DeployToken.extend({
  token: z.string().describe('Shown only in this response; send it in Authorization'),
}).meta({
  id: 'IssuedDeployToken',
  examples: [{ ...issuedToken, token: 'dwt_…' }],
})
export type IssuedDeployToken = z.infer<typeof IssuedDeployToken>

export const DeployTokens = z
  .object({ tokens: z.array(DeployToken) })
  .meta({ id: 'DeployTokens', examples: [{ tokens: [issuedToken] }] })
