/** How the Pods of an image behave, the worst first: it decides for a Pod of several images. */
export const podBehaviours = [
  // Pods that the API server does not admit: refused-pods.ts.
  'quota-exceeded',
  'pod-security-violation',
  'webhook-denial',
  // Pods that wait.
  'unschedulable',
  'claim-pending',
  'volume-missing',
  'volume-attach-error',
  'invalid-image-name',
  'config-error',
  'create-container-error',
  'run-container-error',
  'image-pull-error',
  'pulled-late',
  'init-waits',
  'init-crashes',
  'initializes-slowly',
  // Pods that start, and then do not do well.
  'fails',
  'crashes',
  'crashes-again',
  'oom-killed',
  'liveness-killed',
  'flaps',
  'crashes-thrice',
  'never-ready',
  'starts-slowly',
  'held',
  // The Pods run, and the Rollout that they belong to is aborted: rollout-strategy.ts.
  'analysis-fails',
  'runs',
] as const

export type PodBehaviour = (typeof podBehaviours)[number]

/** Which parts of tags misbehave when nothing else is said: the recordings' own naming rule. */
const recordedWords: readonly (readonly [word: string, behaviour: PodBehaviour])[] = [
  ['bad', 'image-pull-error'],
  ['crash', 'crashes'],
  ['flap', 'flaps'],
  ['fail', 'fails'],
]

/** `init-crashes` ends with `crashes`, too. */
const byLength = podBehaviours.toSorted((one, other) => other.length - one.length)

/** A tag such as `1.0.1-oom-killed` plays the behaviour that it ends with. */
export function behaviourByTag(image: string): PodBehaviour {
  const tag = image.slice(image.lastIndexOf('/') + 1).split(':')[1] ?? ''
  const named = byLength.find((behaviour) => tag.endsWith(`-${behaviour}`))
  return named ?? recordedWords.find(([word]) => tag.includes(word))?.[1] ?? 'runs'
}

/** The worst of several. */
export function worstOf(behaviours: readonly PodBehaviour[]): PodBehaviour {
  return podBehaviours.find((behaviour) => behaviours.includes(behaviour)) ?? 'runs'
}

/** Pods that wait for something outside of them, which a test may provide. */
export const waitingBehaviours: ReadonlySet<PodBehaviour> = new Set([
  'held',
  'unschedulable',
  'claim-pending',
  'volume-missing',
  'volume-attach-error',
  'init-waits',
])

const wellBehaviours: ReadonlySet<PodBehaviour> = new Set([
  'runs',
  'analysis-fails',
  'quota-exceeded',
  'pod-security-violation',
  'webhook-denial',
])

/** Whether such a Pod does well once it is there. */
export const isWell = (behaviour: PodBehaviour) => wellBehaviours.has(behaviour)

const pendingBehaviours: ReadonlySet<PodBehaviour> = new Set(['unschedulable', 'claim-pending'])

/** Whether the scheduler finds a node for such a Pod. */
export const isSchedulable = (behaviour: PodBehaviour) => !pendingBehaviours.has(behaviour)

/** Whether it is about the first init container, which a Pod of such a behaviour always has. */
export const isAboutInit = (behaviour: PodBehaviour) => behaviour.startsWith('init')
