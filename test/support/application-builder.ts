import { parseApplication } from '../../server/argo-cd/parse/parse-application.ts'
import type { ObservedApplication } from '../../server/rollout/observed/observed-application.ts'

export const aSha = (letter: string) => letter.repeat(40)

/** Fields of an Application as Argo CD writes them; only those that matter to a test need be given. */
export type ApplicationFields = {
  readonly version?: number
  readonly uid?: string
  readonly revision?: string
  readonly sync?: string
  readonly health?: string
  readonly images?: readonly string[]
  readonly reconciledAt?: string
  readonly metadata?: object
  readonly spec?: object
  readonly status?: object
  readonly operation?: object
  readonly operationState?: object
}

export const repository = 'https://git.example/ops/gitops.git'

/** The raw object: synced, healthy, running shop:v2 at commit c. */
export function aRawApplication(fields: ApplicationFields = {}): object {
  const {
    version = 10,
    uid = 'uid-1',
    revision = aSha('c'),
    sync = 'Synced',
    health = 'Healthy',
    images = ['registry.example/shop:v2'],
  } = fields
  return {
    metadata: {
      name: 'shop',
      namespace: 'argocd',
      uid,
      resourceVersion: String(version),
      annotations: {},
      ...fields.metadata,
    },
    spec: {
      project: 'default',
      source: { repoURL: repository, path: 'deploy/shop', targetRevision: 'main' },
      syncPolicy: { automated: { prune: true, selfHeal: true } },
      ...fields.spec,
    },
    ...(fields.operation === undefined ? {} : { operation: fields.operation }),
    status: {
      sync: { status: sync, revision },
      health: { status: health },
      summary: { images },
      resources: [
        {
          group: 'apps',
          kind: 'Deployment',
          namespace: 'shop',
          name: 'shop',
          status: sync,
          health: { status: health },
        },
      ],
      reconciledAt: fields.reconciledAt ?? '2026-11-21T15:00:10Z',
      ...(fields.operationState === undefined ? {} : { operationState: fields.operationState }),
      ...fields.status,
    },
  }
}

export function anApplication(fields: ApplicationFields = {}): ObservedApplication {
  const application = parseApplication(aRawApplication(fields))
  if (application === undefined) throw new Error('the test built something that is no application')
  return application
}
