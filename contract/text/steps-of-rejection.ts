import { argoCdRetries, causeOf, developer, type NextStep, platformTeam } from '../causes.ts'
import { type ArgoCdFault, argoCdFault } from './argo-cd-fault.ts'
import { parseRejection, type Rejection } from './parse-rejection.ts'

const ofPolicy = [
  developer('Change in Git what the message names.'),
  platformTeam('If the manifests are right, change the policy.'),
]

const stepsOfRejection: Readonly<Record<Rejection['by'], readonly NextStep[] | undefined>> = {
  quota: causeOf('quota_exceeded').nextSteps,
  quota_rule: [developer('Set in Git the requests and limits that the quota requires.')],
  pod_security: ofPolicy,
  policy: ofPolicy,
  webhook: ofPolicy,
  webhook_down: [platformTeam('Check that the admission webhook runs and answers the API server.')],
  other: undefined,
}

/** Of what the API server did not take, where its message says why. */
export function stepsOfRejected(message: string): readonly NextStep[] | undefined {
  const by = parseRejection(message)?.by
  return by === undefined ? undefined : stepsOfRejection[by]
}

/** Where the manifests are at fault, their cause says what to do. Argo CD syncs by itself only what Git has changed. */
export function stepsOfArgoCd(message: string, after: 'sync' | 'compare'): readonly NextStep[] | undefined {
  const fault = argoCdFault(message)
  const steps = stepsOfFault[fault]
  return steps && [...steps, isRepairedInGit.has(fault) ? argoCdRetries : continues[after]]
}

const isRepairedInGit: ReadonlySet<ArgoCdFault> = new Set(['quota_rule', 'pod_security', 'policy', 'webhook'])

const continues = {
  sync: developer('Then sync the application in Argo CD, and submit the deployment again to follow it.'),
  compare: developer('Argo CD then goes on by itself; submit the deployment again to follow it.'),
}

const stepsOfFault: Readonly<Record<ArgoCdFault, readonly NextStep[] | undefined>> = {
  ...stepsOfRejection,
  manifests: undefined,
  project: [
    platformTeam('Check that the AppProject exists and allows what the message names.'),
    developer('If the application names the wrong project, destination or repository, correct that.'),
  ],
  revision: [developer('Set targetRevision to a branch, tag or commit that the repository has, or push it.')],
  path: [developer('Set the path of the source to a folder that the repository has.')],
  repository: [platformTeam('Check the address of the repository, and that Argo CD has a credential for it.')],
  repo_server: [platformTeam('Check that the repo server of Argo CD runs and answers.')],
  cluster: [platformTeam('Check that Argo CD reaches the cluster and has a valid credential for it.')],
  permission: [platformTeam('Allow Argo CD in the cluster to change this kind of resource.')],
  namespace: [platformTeam('Create the namespace, or set the sync option CreateNamespace=true.')],
  missing_kind: [
    platformTeam('Install the CustomResourceDefinition that the message names.'),
    developer('If the manifests name the wrong version of it, correct that in Git.'),
  ],
}
