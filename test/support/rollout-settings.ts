import type { RolloutSettings } from '../../server/rollout/judge/input/rollout-settings.ts'

/** The documented defaults (docs/settings.md). */
export const defaultRolloutSettings: RolloutSettings = {
  badPodGraceMs: 120_000,
  degradedGraceMs: 60_000,
  comparisonErrorGraceMs: 120_000,
  syncFailedGraceMs: 15_000,
  appGoneGraceMs: 30_000,
  settleMs: undefined,
  acceptSuspended: false,
  registryProxy: undefined,
  annotationPrefixes: [],
  isStrict: false,
  controlPlaneNamespace: 'argocd',
  overrideFilePrefix: 'argocd',
  linkBase: 'https://argocd.example/',
}
