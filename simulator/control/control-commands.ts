import { z } from 'zod'
import { podBehaviours } from '../model/pod-behaviours.ts'
import { abortFormNames } from '../model/rollout-state.ts'
import type { Simulator } from '../simulator.ts'

const applicationName = z.union([z.string(), z.object({ name: z.string(), namespace: z.string() })])
const files = z.record(z.string(), z.union([z.string(), z.null()]))
const behaviour = z.enum(podBehaviours)
const callKind = z.enum([
  'get',
  'refresh',
  'list',
  'stream',
  'tree',
  'tree-stream',
  'managed-resources',
  'events',
  'resource',
  'logs',
  'syncwindows',
  'sync',
  'userinfo',
  'version',
  'healthz',
])

const source = z.object({
  repository: z.string(),
  path: z.string().optional(),
  targetRevision: z.string().optional(),
  ref: z.string().optional(),
  helm: z
    .object({
      valueFiles: z.array(z.string()).optional(),
      parameters: z
        .array(z.object({ name: z.string(), value: z.string(), forceString: z.boolean().optional() }))
        .optional(),
    })
    .optional(),
  kustomize: z.object({ images: z.array(z.string()) }).optional(),
})

const newApplication = z.object({
  name: z.string(),
  namespace: z.string().optional(),
  project: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
  sources: z.array(source).min(1),
  isManual: z.boolean().default(false),
  start: z.enum(['settled', 'empty']).default('settled'),
})

const httpFault = z.object({
  calls: z.array(callKind).optional(),
  application: z.string().optional(),
  times: z.number().optional(),
  action: z.union([
    z.object({ kind: z.literal('error'), status: z.number(), message: z.string().optional() }),
    z.object({ kind: z.literal('html'), status: z.number() }),
    z.object({ kind: z.literal('delay'), ms: z.number() }),
    z.object({ kind: z.enum(['hang', 'reset', 'truncate']) }),
  ]),
})

const gitFault = z.union([
  z.object({ kind: z.enum(['hang', 'close', 'refuse-key']) }),
  z.object({ kind: z.literal('reject'), message: z.string() }),
  z.object({ kind: z.literal('delay'), ms: z.number() }),
])

const syncWindow = z.object({
  kind: z.enum(['allow', 'deny']),
  schedule: z.string(),
  duration: z.string(),
  manualSync: z.boolean(),
  isActive: z.boolean(),
})

export type ControlCommand = (body: unknown) => unknown

/** A command's input is checked before it runs. */
function command<Input extends z.ZodType>(input: Input, run: (input: z.output<Input>) => unknown): ControlCommand {
  return (body) => run(input.parse(body))
}

/** Optional members that are absent, not `undefined`: what the in-process API expects, and what JSON means. */
function present<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value))
}

/** What other processes may ask of a simulator, by name; each is one call of the in-process control. */
export function controlCommands(simulator: Simulator): Readonly<Record<string, ControlCommand>> {
  const { control, git, controller, argo } = simulator
  const named = z.object({ application: applicationName })
  const aRollout = named.extend({ rollout: z.string() })
  return {
    createRepository: command(z.object({ name: z.string(), files }), (input) =>
      git.createRepository(input.name, input.files),
    ),
    commit: command(
      z.object({
        repository: z.string(),
        files,
        message: z.string().default('Change'),
        branch: z.string().default('main'),
      }),
      (input) => git.commit(input.repository, input.files, { message: input.message, branch: input.branch }),
    ),
    log: command(z.object({ repository: z.string() }), (input) => git.log(input.repository)),
    createApplication: command(newApplication, ({ isManual, ...wanted }) =>
      control.createApplication(
        Object.assign(present(wanted), isManual ? { syncPolicy: {} } : {}) as Parameters<
          typeof control.createApplication
        >[0],
      ),
    ),
    annotate: command(named.extend({ annotations: z.record(z.string(), z.string()) }), ({ application, annotations }) =>
      control.editApplication(application, (current) => ({
        ...current,
        metadata: { ...current.metadata, annotations: { ...current.metadata.annotations, ...annotations } },
      })),
    ),
    deleteApplication: command(named, ({ application }) => control.deleteApplication(application)),
    truth: command(named, ({ application }) => control.truth(application)),
    overridePods: command(
      named.extend({
        newPods: behaviour.optional(),
        except: z.array(z.string()).default([]),
        because: z.string().optional(),
      }),
      ({ application, newPods, except, because }) =>
        control.overridePods(application, newPods && present({ newPods, except, because })),
    ),
    setPending: command(
      named.extend({ kind: z.string(), name: z.string(), isPending: z.boolean() }),
      ({ application, kind, name, isPending }) => control.setPending(application, kind, name, isPending),
    ),
    failSync: command(named.extend({ message: z.string().optional() }), ({ application, message }) =>
      control.failSync(application, message),
    ),
    abortRollout: command(
      aRollout.extend({ form: z.enum(abortFormNames).default('person') }),
      ({ application, rollout, form }) => control.abortRollout(application, rollout, form),
    ),
    retryRollout: command(aRollout, ({ application, rollout }) => control.retryRollout(application, rollout)),
    promoteRollout: command(
      aRollout.extend({ isFull: z.boolean().default(false) }),
      ({ application, rollout, isFull }) => control.promoteRollout(application, rollout, { isFull }),
    ),
    approvePruning: command(named, ({ application }) => control.approvePruning(application)),
    releasePods: command(named, ({ application }) => control.releasePods(application)),
    addHttpFault: command(
      httpFault,
      (fault) => void argo.faults.add(present(fault) as Parameters<typeof argo.faults.add>[0]),
    ),
    clearHttpFaults: command(z.unknown(), () => argo.faults.clear()),
    setGitFault: command(z.object({ fault: gitFault.optional(), times: z.number().optional() }), ({ fault, times }) =>
      git.host.setFault(fault, times),
    ),
    hangRefresh: command(
      z.object({ key: z.string(), isOn: z.boolean() }),
      ({ key, isOn }) =>
        void (isOn ? controller.faults.hangRefresh.add(key) : controller.faults.hangRefresh.delete(key)),
    ),
    endStreams: command(z.object({ how: z.enum(['eof', 'reset', 'mid-line', 'unfinished']) }), ({ how }) =>
      argo.endStreams(how),
    ),
    stallStreams: command(z.unknown(), () => argo.stallStreams()),
    setSyncWindows: command(z.object({ project: z.string(), windows: z.array(syncWindow) }), ({ project, windows }) =>
      controller.setSyncWindows(project, windows),
    ),
    callLog: command(z.unknown(), () => control.callLog()),
    clearCallLog: command(z.unknown(), () => control.clearCallLog()),
  }
}
