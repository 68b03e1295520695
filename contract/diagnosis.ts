import { z } from 'zod'
import { actorKinds } from './audit.ts'
import { type Cause, causeCodes, causeOf } from './causes.ts'
import { conditionNames, conditionStates } from './conditions.ts'
import { decimalNumber, epochSeconds, extensibleEnum, wholeNumber } from './field-schemas.ts'

const Condition = z
  .object({
    name: extensibleEnum(conditionNames),
    state: z.enum(conditionStates),
    since: epochSeconds.describe('Start of this state, as this service observed it'),
    first_met: epochSeconds
      .optional()
      .describe('When it and all conditions before it were first met since the commit; kept if one is lost'),
    expected: z.string().optional(),
    found: z.string().optional(),
  })
  .meta({ id: 'Condition' })

const probes = ['readiness', 'liveness', 'startup'] as const

const Culprit = z
  .object({
    kind: z.string().describe('A Kubernetes kind, or Application'),
    namespace: z.string(),
    name: z.string(),
    container: z.string().optional(),
    message: z.string().describe('Deciding message of Kubernetes, Argo CD or the Git host'),
    reason: z
      .string()
      .optional()
      .describe('As Kubernetes, Argo CD or Argo Rollouts names it, such as `CrashLoopBackOff` or `FailedScheduling`'),
    exit_code: wholeNumber.optional().describe('Of the last termination of the container'),
    restarts: wholeNumber.optional().describe('Restarts that were seen during this deployment'),
    over: decimalNumber.optional().describe('Seconds that these restarts took'),
    memory_limit: z.string().optional().describe('Of the container, such as `128Mi`'),
    probe: extensibleEnum(probes).optional().describe('The probe that fails'),
    metric: z.string().optional().describe('The metric that failed, of an AnalysisRun'),
    before_deployment: z.boolean().optional().describe('It was already Degraded before this deployment'),
    is_init: z.boolean().optional().describe('The container is an init container'),
  })
  .meta({ id: 'Culprit' })

const texts = z.array(z.string())

const Pod = z
  .object({
    namespace: z.string(),
    name: z.string(),
    image: z.string().describe('One that the task requests, with any tag; else the first'),
    ready: z.boolean(),
    state: z.string().describe('As `kubectl get pods` shows it'),
    restarts: wholeNumber,
  })
  .meta({ id: 'Pod' })
export type Pod = z.infer<typeof Pod>

const Evidence = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('note'), text: z.string() }),
    z.object({ kind: z.literal('not_committed'), text: z.string().describe('Why this service committed nothing') }),
    z.object({ kind: z.literal('deadline'), after: wholeNumber.describe('The exceeded timeout in seconds') }),
    z.object({ kind: z.literal('unreachable'), since: epochSeconds, message: z.string() }),
    z.object({ kind: z.literal('commit_pending') }),
    z.object({ kind: z.literal('app_condition'), type: z.string(), message: z.string() }),
    z.object({ kind: z.literal('operation'), phase: z.string(), message: z.string() }),
    z.object({
      kind: z.literal('resource'),
      resource: z.string().describe('Kind and name'),
      problem: z.string(),
      message: z.string(),
    }),
    z.object({
      kind: z.literal('pod'),
      namespace: z.string(),
      name: z.string(),
      images: texts,
      state: z.string(),
      message: z.string(),
      events: texts.describe('`<reason>: <message>`, oldest first'),
      occurrences: z
        .array(
          z
            .object({ count: wholeNumber, last: epochSeconds.optional().describe("By the cluster's clock") })
            .meta({ id: 'Occurrence' }),
        )
        .optional()
        .describe('How often each of `events` was seen, and when last; absent in diagnoses stored by an older version'),
    }),
    z.object({ kind: z.literal('out_of_sync'), resources: texts, more: wholeNumber.optional() }),
    z.object({ kind: z.literal('images'), requested: texts, found: texts.describe('In Pods'), applied: texts }),
    z.object({ kind: z.literal('revision'), compared: texts, applied: texts, commit: z.string().optional() }),
    z.object({ kind: z.literal('status'), sync: z.string(), health: z.string(), automated_sync: z.string() }),
  ])
  .meta({ id: 'Evidence' })
export type Evidence = z.infer<typeof Evidence>

/** What a newer replica stored: its kind is all that this version can say of it. */
const LaterEvidence = z.object({ kind: z.string() }).meta({ id: 'LaterEvidence' })

/** Why a task is where it is. Every text about a verdict is made from this value (`render-diagnosis.ts`). */
export const Diagnosis = z
  .object({
    conditions: z.array(Condition).describe('Conditions of `deployed`, in the order of a rollout'),
    cause: extensibleEnum(causeCodes).optional().describe('Of an unfinished task: what blocks it now'),
    headline: z
      .string()
      .optional()
      .describe('What happened, in at most 120 characters; absent in diagnoses stored by an older version'),
    culprit: Culprit.optional(),
    impact: z
      .object({ old_pods_ready: wholeNumber, old_pods: wholeNumber })
      .meta({ id: 'Impact' })
      .optional()
      .describe('Pods of the previous version, and how many of them are ready; absent if no Pods were read'),
    pods: z
      .array(Pod)
      .optional()
      .describe(
        'Of an unfinished task: Pods of the application when they were last read, 20 at most, unready ones first',
      ),
    evidence: z.array(z.union([Evidence, LaterEvidence]) as z.ZodType<Evidence, Evidence>),
    superseded_by: z
      .object({ task: z.string().optional(), commit: z.string().optional(), tag: z.string().optional() })
      .meta({ id: 'SupersededBy' })
      .optional()
      .describe('The newer task, or the newer commit in Git and the tag that it sets'),
    cancelled_by: z
      .object({
        kind: extensibleEnum(actorKinds),
        name: z.string().optional().describe('Of a user'),
      })
      .meta({ id: 'CancelledBy' })
      .optional()
      .describe('Who cancelled it on request'),
    next_steps: z.array(
      z
        .object({ actor: extensibleEnum(['developer', 'platform_team', 'operator']), text: z.string() })
        .meta({ id: 'NextStep' }),
    ),
    links: z.array(z.object({ kind: extensibleEnum(['application']), url: z.string() }).meta({ id: 'Link' })),
  })
  .meta({ id: 'Diagnosis' })
export type Diagnosis = z.infer<typeof Diagnosis>
export type Condition = Diagnosis['conditions'][number]
export type Culprit = NonNullable<Diagnosis['culprit']>

/** Of a task that ended without a look at its application. */
export const bareDiagnosis = (cause: Cause, more: Partial<Diagnosis> = {}): Diagnosis => ({
  conditions: [],
  cause,
  evidence: [],
  next_steps: [...causeOf(cause).nextSteps],
  links: [],
  ...more,
})
