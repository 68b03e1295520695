import type { createClient } from './client.ts'
import { type HistoryWorld, setLineState } from './history-world.ts'
import type { Step } from './plan-history.ts'

/** Does one step of a plan. @returns when a client has heard its answer, or a process has come or gone */
export async function act(step: Step, client: ReturnType<typeof createClient>, world: HistoryWorld): Promise<unknown> {
  switch (step.kind) {
    case 'submit': {
      const { app, tag, credential, timeout, isKeyed } = step
      const key = isKeyed ? `key-of-${tag}` : undefined
      return client.submit(step.replica, { app, tag, credential, timeout, key, author: client.nextAuthor() })
    }
    case 'resend':
      return client.resend(step.replica, step.submission, step.isChanged)
    case 'read':
      return client.read(step.replica, step.submission)
    case 'cancel':
      return client.cancel(step.replica, step.submission, step.credential)
    case 'list':
      return client.list(step.replica)
    case 'lock':
      return client.setLock(step.replica)
    case 'unlock':
      return client.releaseLock(step.replica)
    case 'kill':
    case 'stop':
    case 'start':
    case 'freeze':
    case 'thaw':
      return world[step.kind](step.replica)
    case 'line':
      return setLineState(world.line(step.replica, step.line), step.mood)
    case 'cut':
      return world.line(step.replica, step.line)?.cut()
    case 'git_line':
      return setLineState(world.gitLine, step.mood)
    case 'cut_git':
      return world.gitLine.cut()
    case 'git_host':
      return world.setGitFault(step.fault, step.times)
    case 'identity_line':
      return setLineState(world.identityLine, step.mood)
    case 'controller_answers':
      return world.controllerAnswers(step.fault)
    case 'controller_streams':
      return world.controllerStreams(step.how)
    case 'controller_mood':
      return world.controllerMood(step.app, step.mood)
    case 'rival':
      return world.rival(step.app, step.writes)
    case 'annotate':
    case 'recreate':
      return world[step.kind](step.app)
    case 'pods':
      return world.pods(step.app, step.behaviour)
  }
}
