import { Command, CommanderError, Option } from 'commander'
import { exitCodes } from '../../contract/exit-codes.ts'
import { ExitError, usageError } from '../exit.ts'
import { argoWatcherVariables } from '../input/argo-watcher-variables.ts'
import { moment, seconds } from '../input/submissions.ts'
import { renderJsonError } from '../output/json.ts'
import { harmless } from '../output/markup.ts'
import manifest from '../package.json' with { type: 'json' }
import type { Run } from '../run.ts'
import { runDeploy, runWait } from './deploy.ts'
import { runLockRelease, runLockSet, runLockStatus } from './lock.ts'
import { runCancel, runList, runStatus, runVersion } from './show.ts'

/** Parses the arguments and runs the command. @returns the exit code */
export async function runProgram(args: readonly string[], run: Run): Promise<number> {
  let code: number = exitCodes.deployed
  const program = createProgram(run, (result) => {
    code = result
  })
  // argo-watcher's client takes no arguments.
  const isTheirs = args.length === 0 && argoWatcherVariables(run.variables) !== undefined
  try {
    await program.parseAsync(isTheirs ? ['deploy'] : [...args], { from: 'user' })
    return code
  } catch (error) {
    const isSaid = error instanceof CommanderError
    if (isSaid && error.exitCode === 0) return exitCodes.deployed
    const { code, message } = isSaid ? usageError(error.message) : asExitError(error)
    if (!isSaid) run.stderr.write(harmless(`deployment-watcher: ${message}\n`, run.variables))
    if (isJsonWanted(args)) run.stdout.write(renderJsonError(message, code))
    return code
  }
}

function asExitError(error: unknown): ExitError {
  if (error instanceof ExitError) return error
  throw error
}

/** Known also where the other arguments cannot be parsed. */
const isJsonWanted = (args: readonly string[]): boolean =>
  args.some((one, at) => one === '--output=json' || (one === '--output' && args[at + 1] === 'json'))

type Deployment = { app: string; images: string[] }

function createProgram(run: Run, end: (code: number) => void): Command {
  const program = new Command('deployment-watcher')
    .description('Deploys from a pipeline and says whether the deployment worked.')
    .version(manifest.version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => run.stdout.write(text),
      writeErr: (text) => run.stderr.write(harmless(text, run.variables)),
    })
    .configureHelp({ helpWidth: 100 })
    .showSuggestionAfterError()
    .helpCommand(false)
    .addHelpText('after', `${exitCodeHelp}\n\nExample:\n  ${deployExample}`)

  const command = (parent: Command, name: string, description: string, example: string) =>
    parent
      .command(name)
      .description(description)
      .option('--server <url>', 'address of the service (WATCHER_URL)')
      .option('--no-token', 'send no credential: neither WATCHER_TOKEN nor the ID token of the CI')
      .option('--audience <text>', 'of the ID token (default: the server); no effect in CircleCI and GitLab')
      .option('--ca-file <file>', 'certificates of further authorities, PEM')
      .addHelpText('after', `\nExample:\n  ${example}`)

  const deployments: Deployment[] = []
  command(program, 'deploy', 'Deploys images and waits for the verdict.', deployExample)
    .option('--app <name>', 'application in Argo CD; may be repeated', (app: string) => {
      deployments.push({ app, images: [] })
      return app
    })
    .option('--image <image:tag>', 'image of the --app before it; may be repeated', (image: string) => {
      const last = deployments.at(-1)
      if (last === undefined) throw new ExitError(exitCodes.usage, `--image ${image}: belongs behind an --app`)
      last.images.push(image)
      return image
    })
    .option('--from-file <json>', 'a list of tasks as the API has them; - reads the standard input')
    .option('--author <name>', 'who deploys; from the CI where it is known')
    .option('--project <name>', 'project of the pipeline; from the CI where it is known')
    .option('--environment <name>', 'environment of the deployment, such as production')
    .option('--timeout <duration>', 'when the service gives up, such as 15m', (text: string) =>
      seconds(text, '--timeout'),
    )
    .option('--refresh', 'have Argo CD refresh the application')
    .option('--no-refresh', 'have it not refreshed')
    .option('--wait-for-app <duration>', 'how long the application may take to appear in Argo CD', (text: string) =>
      seconds(text, '--wait-for-app'),
    )
    .addOption(new Option('--on-failure <action>', 'what follows a failure').choices(['rollback', 'none']))
    .option('--source-repository <name>', 'repository of the deployed commit; from the CI')
    .option('--source-sha <sha>', 'the deployed commit; from the CI')
    .option('--source-ref <ref>', 'its branch or tag; from the CI')
    .option('--source-url <url>', 'its page; from the CI')
    .option('--source-committed-at <time>', 'when it was committed', (text: string) =>
      moment(text, '--source-committed-at'),
    )
    .option('--detach', 'do not wait for the verdict')
    .option('--cancel-on-interrupt', 'cancel the deployment at Ctrl+C or SIGTERM')
    .addOption(outputOption())
    .action(async (flags) => end(await runDeploy({ ...flags, deployments }, run)))

  command(
    program,
    'wait',
    'Waits for the verdict of tasks.',
    'deployment-watcher wait 019aa0c5-7d4c-7c3e-9d0a-6c1f0b3f8a11',
  )
    .argument('<id...>', 'ids of tasks')
    .option('--cancel-on-interrupt', 'cancel the deployment at Ctrl+C or SIGTERM')
    .addOption(outputOption())
    .action(async (ids, flags) => end(await runWait(ids, flags, run)))

  command(program, 'status', 'Shows a task.', 'deployment-watcher status 019aa0c5-7d4c-7c3e-9d0a-6c1f0b3f8a11')
    .argument('<id>', 'id of a task')
    .addOption(outputOption())
    .action(async (id, flags) => end(await runStatus(id, flags, run)))

  command(program, 'list', 'Lists tasks, newest first.', 'deployment-watcher list --app shop --status failed,aborted')
    .option('--app <name>', 'of this application')
    .option('--project <name>', 'of this project')
    .option('--environment <name>', 'of this environment')
    .option('--author <name>', 'of this author')
    .option('--status <status>', 'with this status, or several separated by commas')
    .option('--search <text>', 'with this part of a name, image, id or commit')
    .option('--limit <number>', 'at most so many', '20')
    .addOption(outputOption())
    .action(async (flags) => end(await runList(flags, run)))

  command(
    program,
    'cancel',
    'Cancels a task. Its commit stays.',
    'deployment-watcher cancel 019aa0c5-7d4c-7c3e-9d0a-6c1f0b3f8a11',
  )
    .argument('<id>', 'id of a task')
    .addOption(outputOption())
    .action(async (id, flags) => end(await runCancel(id, flags, run)))

  const lock = program
    .command('lock')
    .description('Shows, sets or releases the deploy lock.')
    .helpCommand(false)
    .addHelpText('after', '\nExample:\n  deployment-watcher lock status')
  command(lock, 'status', 'Shows the deploy lock; ends with 6 while it is active.', 'deployment-watcher lock status')
    .addOption(outputOption())
    .action(async (flags) => end(await runLockStatus(flags, run)))
  command(
    lock,
    'set',
    'Locks deployments, as the user of WATCHER_ACCESS_TOKEN.',
    "deployment-watcher lock set --reason 'database failover' --until 2026-12-01T06:00:00Z",
  )
    .option('--reason <text>', 'why')
    .option('--until <time>', 'when it ends by itself', (text: string) => moment(text, '--until'))
    .action(async (flags) => end(await runLockSet(flags, run)))
  command(
    lock,
    'release',
    'Releases the deploy lock, as the user of WATCHER_ACCESS_TOKEN.',
    'deployment-watcher lock release',
  ).action(async (flags) => end(await runLockRelease(flags, run)))

  command(
    program,
    'version',
    'Shows the versions of this client and of the service.',
    'deployment-watcher version',
  ).action(async (flags) => end(await runVersion(flags, run)))
  return program
}

const outputOption = () =>
  new Option('--output <form>', 'text, or json on the standard output').choices(['text', 'json']).default('text')

const deployExample = 'deployment-watcher deploy --app shop --image registry.example.com/shop:1.2.0'

const exitCodeHelp = `
Exit codes:
  0 deployed · 1 failed · 2 usage · 3 server unreachable · 4 not authorized · 5 rejected · 6 locked
  7 superseded or cancelled · 8 aborted · 9 no verdict in time · 10 application not found · 130 interrupted`
