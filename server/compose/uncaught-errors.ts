type Source = { on(event: 'unhandledRejection' | 'uncaughtException', listener: (error: unknown) => void): unknown }

/**
 * Goes on after an uncaught error, in a timer, an event handler or a promise: what it happened in is lost, the other
 * tasks are not (decision 0012). For a service that has started; before, such an error ends the start.
 */
export function handleUncaughtErrors(source: Source, tell: (error: unknown) => void): void {
  source.on('unhandledRejection', tell)
  source.on('uncaughtException', tell)
}
