import { startProgram, type Variables } from './run-program.ts'

/** Runs the built client as a pipeline does, with these variables and no others but PATH. */
export const startClient = (args: readonly string[], variables?: Variables) =>
  startProgram('cli/dist/deployment-watcher.mjs', args, variables)

export const runClient = (...parameters: Parameters<typeof startClient>) => startClient(...parameters).ended
