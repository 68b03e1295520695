import type { runDeploy } from '../cli/commands/deploy.ts'
import { ExitError, usageError } from '../cli/exit.ts'
import type { Variables } from '../cli/input/ci-defaults.ts'
import type { ConnectionFlags } from '../cli/input/connection.ts'
import { seconds } from '../cli/input/submissions.ts'
import { exitCodes } from '../contract/exit-codes.ts'

/** The inputs of action.yml. */
export const inputNames = [
  'server',
  'apps',
  'images',
  'tasks-file',
  'environment',
  'timeout',
  'wait-for-app',
  'on-failure',
  'audience',
  'token',
  'cancel-on-interrupt',
] as const
type InputName = (typeof inputNames)[number]

type DeployFlags = Parameters<typeof runDeploy>[0]
/** What the client is called with, and its environment. */
type Connection = { readonly flags: ConnectionFlags; readonly variables: Variables }
type Deployment = { readonly flags: DeployFlags; readonly variables: Variables }

/** The runner hands over an input in upper case; blanks around it say nothing. */
const inputOf = (variables: Variables, name: InputName): string =>
  (variables[`INPUT_${name.toUpperCase()}`] ?? '').trim()

/**
 * How the inputs reach the service. WATCHER_URL and WATCHER_TOKEN of the job stand in for inputs that are empty.
 * @throws {ExitError} where there is neither a token nor an ID token to be had
 */
export function readConnection(variables: Variables): Connection {
  const server = inputOf(variables, 'server') || (variables.WATCHER_URL ?? '')
  if (server === '') throw usageError('the input `server` is missing')
  const token = inputOf(variables, 'token') || (variables.WATCHER_TOKEN ?? '')
  const { ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: requestToken } = variables
  if (token === '' && (!url || !requestToken)) throw new ExitError(exitCodes.not_authorized, noCredential)
  return {
    flags: { server, token: true, ...given('audience', inputOf(variables, 'audience')) },
    // Other tools of the job may have variables of argo-watcher's client.
    variables: { ...variables, GITHUB_ACTIONS: 'true', WATCHER_TOKEN: token, ARGO_WATCHER_URL: undefined },
  }
}

const noCredential = 'The job has no ID token: give it the permission `id-token: write`, or the step the input `token`.'

/** What the inputs deploy. @throws {ExitError} naming the input that is wrong */
export function readDeployment(variables: Variables): Deployment {
  const input = (name: InputName) => inputOf(variables, name)
  const connection = readConnection(variables)
  const flags: DeployFlags = {
    ...connection.flags,
    ...readTasks(linesOf(input('apps')), linesOf(input('images')), input('tasks-file')),
    ...given('environment', input('environment')),
    ...given('timeout', secondsOf('timeout', input('timeout'))),
    ...given('waitForApp', secondsOf('wait-for-app', input('wait-for-app'))),
    ...given('onFailure', oneOf('on-failure', input('on-failure'), ['rollback', 'none'])),
    cancelOnInterrupt: /^true$/i.test(oneOf('cancel-on-interrupt', input('cancel-on-interrupt'), booleans)),
    output: 'text',
  }
  return { flags, variables: connection.variables }
}

/** As YAML 1.2 writes them. */
const booleans = ['true', 'True', 'TRUE', 'false', 'False', 'FALSE']

function readTasks(
  apps: readonly string[],
  images: readonly string[],
  file: string,
): Pick<DeployFlags, 'deployments' | 'fromFile'> {
  if (file !== '') {
    if (apps.length > 0 || images.length > 0) throw usageError('`tasks-file` stands in place of `apps` and `images`')
    return { deployments: [], fromFile: file }
  }
  if (apps.length === 0) throw usageError('nothing to deploy: the input `apps` is empty, and so is `tasks-file`')
  if (images.length === 0) throw usageError('nothing to deploy: the input `images` is empty')
  return { deployments: apps.map((app) => ({ app, images })) }
}

const linesOf = (text: string): readonly string[] =>
  text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '')

const secondsOf = (name: InputName, text: string) => (text === '' ? '' : seconds(text, name))

function oneOf(name: InputName, text: string, choices: readonly string[]): string {
  if (text !== '' && !choices.includes(text)) throw usageError(`${name} ${text}: must be ${choices.join(' or ')}`)
  return text
}

/** An empty input is as good as an absent one. */
const given = <Name extends string, Value>(name: Name, value: Value | '') =>
  (value === '' ? {} : { [name]: value }) as { [name in Name]?: Value }
